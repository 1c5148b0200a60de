#include "capstan/op/kernel.h"

#include <utility>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "tensor/storage.h"

namespace capstan {

void* KernelContext::make_output(std::size_t i, const Shape& shape) {
  outputs_[i] = new_tensor(specs_[i].dtype, shape);
  return mutable_data(outputs_[i]);
}

bool KernelContext::can_take_over(std::size_t i, std::size_t from) const {
  const InputRef& input = inputs_[from];
  if (!may_take_over_ || !input.is_given_away) return false;
  const detail::TensorRep* giver = input.tensor->rep_or_null();
  const TensorSpec& spec = specs_[i];
  return giver->buffer && is_sole_owner(*input.tensor) && is_plain(spec.dtype) &&
         dtype_size(giver->dtype) == dtype_size(spec.dtype) && giver->size == spec.shape.num_elements();
}

void* KernelContext::make_output_over_input(std::size_t i, std::size_t from) {
  const TensorSpec& spec = specs_[i];
  if (!can_take_over(i, from)) return make_output(i, spec.shape);
  // The output is a tensor of its own, identity included; only the memory moves. The giver stays a valid, empty object
  // until its handle goes, which is before the caller can look at it again. Its elements remain readable at the same
  // address while the kernel runs.
  outputs_[i] = share_elements(*inputs_[from].tensor, spec.shape, spec.dtype);
  return mutable_data(outputs_[i]);
}

void KernelContext::fail(const std::string& message) const {
  throw InvalidArgument(std::string(op_.name()) + ": " + message);
}

}  // namespace capstan
