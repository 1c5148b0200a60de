#include "function/traced_function.h"

#include "function/derivatives.h"
#include "function/tracing_mutex.h"

namespace capstan {

TracedFunction::TracedFunction(Parts parts, Origin origin)
    : GraphFunction(std::move(parts)), origin_(std::move(origin)) {}

TracedFunction::~TracedFunction() = default;

const std::shared_ptr<const Derivatives>& TracedFunction::derivatives(bool full) const {
  auto& kept = full ? full_ : first_;
  return find_or_make(
      mutex_, [&] { return kept ? &kept : nullptr; }, [&] { return std::make_shared<const Derivatives>(*this, full); },
      [&](std::shared_ptr<const Derivatives> made) {
        if (!kept) kept = std::move(made);  // making it may have asked for it
        return &kept;
      });
}

}  // namespace capstan
