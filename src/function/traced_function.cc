#include "function/traced_function.h"

#include "function/derivatives.h"

namespace capstan {

TracedFunction::TracedFunction(Parts parts, Origin origin)
    : GraphFunction(std::move(parts)), origin_(std::move(origin)) {}

TracedFunction::~TracedFunction() = default;

const std::shared_ptr<const Derivatives>& TracedFunction::derivatives(bool full) const {
  const std::lock_guard lock(mutex_);
  auto& made = full ? full_ : first_;
  if (!made) made = std::make_shared<const Derivatives>(*this, full);
  return made;
}

}  // namespace capstan
