// Constants, passing values through, and keeping a part of each matrix.
#include "ops/identity.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/records.h"

namespace capstan {
namespace {

void const_shape(InferContext& context) {
  const auto& attributes = context.attributes<ConstAttributes>();
  if (!attributes.value.is_defined()) context.fail("the attribute 'value' must be given");
  if (attributes.value.dtype() != attributes.dtype)
    context.fail_type("'dtype' must be the type of 'value', got " + std::string(dtype_name(attributes.dtype)) +
                      " and " + std::string(dtype_name(attributes.value.dtype())));
  context.set_output(0, attributes.value.shape());
}

void identity_n_shape(InferContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, context.input_shape(i));
}

/// input [..., m, n], num_lower, num_upper: scalars.
void matrix_band_part_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank_at_least(0, 2, "input");
  for (std::size_t i : {1, 2}) {
    const std::string name = i == 1 ? "num_lower" : "num_upper";
    context.require_rank(i, 0, name);
    if (!input.has_rank() || !context.input_value(i)) continue;
    const std::int64_t size = input.dim(i == 1 ? -2 : -1), count = context.integers(i)[0];
    if (size >= 0 && count > size)
      context.fail("'" + name + "' must be negative or at most " + std::to_string(size) + " for matrices in shape " +
                   input.to_string() + ", got " + std::to_string(count));
  }
  context.set_output(0, input);
}

}  // namespace

const OpDef const_op{
    .signature = "Const() -> (output: dtype); dtype: any",
    .summary = "A constant.",
    .shape = const_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ConstAttributes>,
};

const OpDef identity_n_op{
    .signature = "IdentityN(input: T...) -> (output: T...)",
    .summary = "The inputs as new tensors.",
    .shape = identity_n_shape,
    .gradient =
        [](const OpCall&, std::span<const Gradient> dy) {
          Gradients gradients;
          for (const Gradient& gradient : dy) gradients.push_back(gradient);
          return gradients;
        },
    .forward = forward::linear_in_all(),
    .saves = Saves::nothing(),
};

const OpDef prevent_gradient_op{
    .signature = "PreventGradient(input: T) -> (output: T); T: any",
    .summary = "The input; asking for a gradient through it is an error.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall& call, Tensor) -> Gradients {
      throw NotFound("PreventGradient: a gradient was asked for that is disabled here: " +
                     call.attributes<PreventGradientAttributes>().message);
    },
    .batching = batching::elementwise,
    .forward = forward::linear({0}),
    .attributes = attributes<PreventGradientAttributes>,
    .saves = Saves::nothing(),
};

const OpDef matrix_band_part_op{
    .signature =
        "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> (band: T); T: any; "
        "Tindex: {int32, int64}",
    .summary = "The innermost matrices with everything outside a band set to 0.",
    .shape = matrix_band_part_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(matrix_band_part_op, {std::move(dy), call.input(1), call.input(2)});
        },
    .batching = [](const OpCall& call, std::span<const bool>) { return apply_all(call.op(), call.inputs()); },
    .forward = forward::linear({0}),
    .saves = Saves::only({1, 2}),
};

std::vector<Tensor> identity_n(std::span<const Tensor> tensors) {
  std::vector<InputRef> inputs(tensors.begin(), tensors.end());
  return apply_all(identity_n_op, inputs);
}
Tensor prevent_gradient(Tensor x, const std::string& message) {
  const PreventGradientAttributes attributes{message};
  return apply(prevent_gradient_op, {std::move(x)}, &attributes);
}
Tensor matrix_band_part(Tensor x, std::int64_t lower, std::int64_t upper) {
  return apply(matrix_band_part_op, {std::move(x), constant(lower), constant(upper)});
}

OpList identity_ops() {
  static constexpr const OpDef* list[] = {&const_op, &identity_n_op, &prevent_gradient_op, &matrix_band_part_op};
  return list;
}

}  // namespace capstan
