#include "capstan/op/gradient.h"

#include <ostream>

#include "capstan/base/error.h"
#include "capstan/op/op.h"

namespace capstan {

Gradient Gradient::missing(std::string reason) {
  Gradient nothing;
  nothing.more_ = std::make_shared<More>();
  nothing.more_->reason = std::move(reason);
  return nothing;
}

const IndexedSlices& Gradient::slices() const {
  if (!is_slices()) throw FailedPrecondition("Gradient::slices: the gradient is not IndexedSlices; use tensor()");
  return more_->slices;
}

Tensor Gradient::tensor() && { return dense_.is_defined() ? std::move(dense_) : std::as_const(*this).tensor(); }

Tensor Gradient::tensor() const& {
  if (dense_.is_defined()) return dense_;
  if (is_slices()) return to_tensor(more_->slices);
  throw MissingGradient(reason());
}

std::string Gradient::reason() const {
  if (has_value()) return "";
  if (more_ && !more_->reason.empty()) return more_->reason;
  return "there is no gradient: no differentiable path leads from the source to the target";
}

std::ostream& operator<<(std::ostream& out, const Gradient& gradient) {
  if (!gradient.has_value()) return out << "none";
  if (!gradient.is_slices()) return out << gradient.tensor();
  return out << "IndexedSlices(values=" << gradient.slices().values << ", indices=" << gradient.slices().indices << ")";
}

void GradientFn::throw_count(const OpCall& call, std::size_t got, std::size_t expected) {
  throw InvalidArgument(std::string(call.op().name()) + ": its gradient function returned " + std::to_string(got) +
                        " gradients, expected " + std::to_string(expected) + " (one per input)");
}

AttributeValue OpCall::attribute(std::string_view name) const {
  const AttributeSchema* schema = op_->attributes ? &op_->attributes() : nullptr;
  const AttributeField* field = schema ? schema->find(name) : nullptr;
  if (!field) throw InvalidArgument(std::string(op_->name()) + ": has no attribute '" + std::string(name) + "'");
  return field->get(attributes_, field->offset);
}

void OpCall::throw_not_saved(const char* what, std::size_t i) const {
  throw Internal(std::string(op_->name()) + ": its gradient function reads " + what + " " + std::to_string(i) +
                 ", which the op's record does not list in `saves`");
}

}  // namespace capstan
