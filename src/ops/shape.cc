// Asking for shapes, and changing them without moving elements.
#include "ops/shape.h"

#include "capstan/ops/array.h"
#include "ops/records.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

void shape_n_shape(InferContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    const Shape& input = context.input_shape(i);
    context.set_output(i, Shape{input.has_rank() ? input.rank() : Shape::kUnknown});
  }
}

/// input, dim: scalar or a vector of one element.
void expand_dims_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  const Shape& dim = context.input_shape(1);
  if (dim.has_rank() && (dim.rank() > 1 || !dim.is_compatible_with(dim.rank() ? Shape{1} : Shape{})))
    context.fail("'dim' must be a scalar, got shape " + dim.to_string());
  if (!input.has_rank()) return context.set_output(0, Shape::unknown());
  if (!context.input_value(1))
    return context.set_output(0, Shape::unknown_dims(std::min(input.rank() + 1, Shape::kMaxRank)));
  const int axis = context.normalize_axis(context.integers(1)[0], input.rank() + 1, "dim");
  std::vector<std::int64_t> dims(input.dims().begin(), input.dims().end());
  dims.insert(dims.begin() + axis, 1);
  shape::set_output(context, 0, dims);
}

void squeeze_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  const auto& axes = context.attributes<SqueezeAttributes>().squeeze_dims;
  if (!input.has_rank()) return context.set_output(0, Shape::unknown());
  std::vector<bool> goes(static_cast<std::size_t>(input.rank()));
  for (std::int64_t axis : axes) {
    const int at = context.normalize_axis(axis, input.rank(), "squeeze_dims");
    goes[static_cast<std::size_t>(at)] = true;
    if (input[at] >= 0 && input[at] != 1)
      context.fail("only dimensions of size 1 can be squeezed; dimension " + std::to_string(at) + " of shape " +
                   input.to_string() + " has size " + std::to_string(input[at]));
  }
  Shape output;
  for (int i = 0; i < input.rank(); ++i) {
    // Without a list an unknown size may turn out to be 1, so nothing is known of the result.
    if (axes.empty() && input[i] < 0) return context.set_output(0, Shape::unknown());
    if (axes.empty() ? input[i] != 1 : !goes[static_cast<std::size_t>(i)]) output.push_back(input[i]);
  }
  context.set_output(0, output);
}

void ensure_shape_shape(InferContext& context) {
  const Shape& wanted = context.attributes<EnsureShapeAttributes>().shape;
  const Shape& input = context.input_shape(0);
  if (!wanted.is_compatible_with(input))
    context.fail("the shape must be " + wanted.to_string() + ", got " + input.to_string());
  context.set_output(0, context.merge(wanted, input, "the shapes"));
}

std::vector<Tensor> squeeze_batching(const OpCall& call, std::span<const bool>) {
  SqueezeAttributes moved = call.attributes<SqueezeAttributes>();
  const Shape& shape = call.input_shape(0);
  if (moved.squeeze_dims.empty()) {
    for (int i = 1; i < shape.rank(); ++i)
      if (shape[i] == 1) moved.squeeze_dims.push_back(i);
    if (moved.squeeze_dims.empty()) return {identity(call.input(0))};  // an empty list would squeeze the batch
  } else {
    for (std::int64_t& axis : moved.squeeze_dims) axis = batching::axis_behind_batch(axis);
  }
  return apply_all(call.op(), {call.input(0)}, &moved);
}

std::vector<Tensor> expand_dims_batching(const OpCall& call, std::span<const bool>) {
  return apply_all(call.op(), {call.input(0), batching::axes_behind_batch(call.input(1))});
}

}  // namespace

const OpDef shape_n_op{
    .signature = "ShapeN(input: N*T) -> (output: N*out_type); T: any; out_type: {int32, int64}",
    .summary = "The shapes of several tensors as vectors.",
    .shape = shape_n_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ShapeAttributes>,
    .facts = {.shapes_only = true},
};

const OpDef size_op{
    .signature = "Size(input: T) -> (output: out_type); T: any; out_type: {int32, int64}",
    .summary = "The number of elements.",
    .shape = shape::scalar,
    .gradient = not_differentiable,
    .attributes = attributes<ShapeAttributes>,
    .facts = {.shapes_only = true},
};

const OpDef rank_op{
    .signature = "Rank(input: T) -> (output: int32); T: any",
    .summary = "The number of dimensions.",
    .shape = shape::scalar,
    .gradient = not_differentiable,
    .facts = {.shapes_only = true},
};

const OpDef expand_dims_op{
    .signature = "ExpandDims(input: T, dim: Tdim) -> (output: T); T: any; Tdim: {int32, int64}",
    .summary = "The same elements with a new dimension of size 1.",
    .shape = expand_dims_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return reshape(std::move(dy), shape_of_input(call, 0)); },
    .batching = expand_dims_batching,
    .forward = forward::linear({0}),
    .saves = Saves::nothing(),
};

const OpDef squeeze_op{
    .signature = "Squeeze(input: T) -> (output: T); T: any",
    .summary = "The same elements without dimensions of size 1.",
    .shape = squeeze_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return reshape(std::move(dy), shape_of_input(call, 0)); },
    .batching = squeeze_batching,
    .forward = forward::linear({0}),
    .attributes = attributes<SqueezeAttributes>,
    .saves = Saves::nothing(),
};

const OpDef ensure_shape_op{
    .signature = "EnsureShape(input: T) -> (output: T); T: any",
    .summary = "The input, if it has the given shape.",
    .shape = ensure_shape_shape,
    .gradient = [](const OpCall&, Tensor dy) { return dy; },
    .forward = forward::linear({0}),
    .attributes = attributes<EnsureShapeAttributes>,
    .saves = Saves::nothing(),
};

std::vector<Tensor> shape_n(std::span<const Tensor> tensors, DType out_type) {
  const ShapeAttributes attributes{out_type};
  std::vector<InputRef> inputs(tensors.begin(), tensors.end());
  return apply_all(shape_n_op, inputs, &attributes);
}
Tensor size_of(Tensor x, DType out_type) {
  const ShapeAttributes attributes{out_type};
  return apply(size_op, {std::move(x)}, &attributes);
}
Tensor rank_of(Tensor x) { return apply(rank_op, {std::move(x)}); }
Tensor expand_dims(Tensor x, std::int64_t axis) { return apply(expand_dims_op, {std::move(x), axis_tensor(axis)}); }
Tensor squeeze(Tensor x, const std::vector<std::int64_t>& axes) {
  const SqueezeAttributes attributes{axes};
  return apply(squeeze_op, {std::move(x)}, &attributes);
}
Tensor ensure_shape(Tensor x, const Shape& shape) {
  const EnsureShapeAttributes attributes{shape};
  return apply(ensure_shape_op, {std::move(x)}, &attributes);
}

OpList shape_ops() {
  static constexpr const OpDef* list[] = {&shape_n_op,     &size_op,    &rank_op,
                                          &expand_dims_op, &squeeze_op, &ensure_shape_op};
  return list;
}

}  // namespace capstan
