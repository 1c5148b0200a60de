#include "capstan/op/kernel.h"

#include <utility>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "tensor/storage.h"

namespace capstan {

void* KernelContext::make_output(std::size_t i, const Shape& shape) {
  try {
    outputs_[i] = new_tensor(specs_[i].dtype, shape);
  } catch (Error& error) {  // too large
    error.add_context(op_.name());
    throw;
  }
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

namespace detail {

void check_elementwise(const KernelContext& context, std::size_t inputs, DType dtype) {
  if (context.input_count() < inputs)
    context.fail("the kernel calls a function of " + std::to_string(inputs) + " arguments, the op has " +
                 std::to_string(context.input_count()));
  const TensorSpec& output = context.output_spec(0);
  for (std::size_t i = 0; i < inputs; ++i) {
    const Tensor& input = context.input(i);
    if (input.shape() != output.shape)
      context.fail("an elementwise kernel needs inputs of the output's shape " + output.shape.to_string() +
                   ", got shape " + input.shape().to_string() + " for input " + std::to_string(i) +
                   "; use broadcast_to first");
    if (input.dtype() != dtype || output.dtype != dtype)
      context.fail("an elementwise kernel needs inputs and an output of one type, got " +
                   std::string(dtype_name(input.dtype())) + " for input " + std::to_string(i) + " and " +
                   std::string(dtype_name(output.dtype)) + " for the output");
  }
}

}  // namespace detail
}  // namespace capstan
