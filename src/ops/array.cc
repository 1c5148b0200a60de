// Making tensors and changing their shape.
#include "capstan/ops/array.h"

#include <algorithm>
#include <limits>

#include "capstan/base/error.h"
#include "capstan/ops/reduce.h"
#include "ops/array.h"
#include "ops/records.h"

namespace capstan {
namespace {

void reshape_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  Shape target = context.shape_from_input(1, /*allow_unknown=*/true);
  if (!context.input_value(1)) {
    if (target.rank() == 1) target.set_dim(0, input.num_elements());
    return context.set_output(0, target);
  }
  int open = -1;
  for (int i = 0; i < target.rank(); ++i) {
    if (target[i] >= 0) continue;
    if (open >= 0) context.fail("'shape' may have only one -1, got " + target.to_string());
    open = i;
  }
  const std::int64_t have = input.num_elements();
  if (have < 0) return context.set_output(0, target);
  if (open >= 0) {
    Shape rest = target;
    rest.set_dim(open, 1);
    const std::int64_t others = rest.num_elements();
    if (others == 0 ? have != 0 : have % others != 0)
      context.fail("cannot fit the " + std::to_string(have) + " elements of shape " + input.to_string() +
                   " into shape " + target.to_string());
    target.set_dim(open, others == 0 ? 0 : have / others);
  }
  if (target.num_elements() != have)
    context.fail("shape " + target.to_string() + " has " + std::to_string(target.num_elements()) +
                 " elements, the input of shape " + input.to_string() + " has " + std::to_string(have));
  context.set_output(0, target);
}

void broadcast_to_shape(InferContext& context) {
  Shape target = context.shape_from_input(1);
  const Shape& input = context.input_shape(0);
  if (input.has_rank() && target.has_rank()) {
    const int added = target.rank() - input.rank();
    // A size that is not 1 stays, also where the target's is not known.
    for (int i = std::max(0, -added); i < input.rank(); ++i)
      if (input[i] >= 0 && input[i] != 1 && target[i + added] < 0) target.set_dim(i + added, input[i]);
    bool fits = added >= 0;
    for (int i = 0; fits && i < input.rank(); ++i)
      fits = input[i] == 1 || input[i] < 0 || target[i + added] < 0 || input[i] == target[i + added];
    if (!fits) context.fail("shape " + input.to_string() + " does not broadcast to " + target.to_string());
  }
  context.set_output(0, target);
}

void fill_shape(InferContext& context) {
  const Shape& value = context.input_shape(1);
  if (value.has_rank() && !value.is_scalar() && !value.is_compatible_with(Shape{1}))
    context.fail("'value' must be a scalar, got shape " + value.to_string());
  context.set_output(0, context.shape_from_input(0));
}

void shape_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.set_output(0, Shape{input.has_rank() ? input.rank() : Shape::kUnknown});
}

}  // namespace

const OpDef reshape_op{
    .signature = "Reshape(tensor: T, shape: Tshape) -> (output: T); T: any; Tshape: {int32, int64}",
    .summary = "The same elements in another shape.",
    .shape = reshape_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          const Shape& shape = call.input_shape(0);
          return shape.is_fully_known() ? reshape(std::move(dy), shape) : reshape(dy, shape_of_input(call, 0));
        },
    .forward = forward::linear({0}),
    .saves = Saves::nothing(),
};

const OpDef broadcast_to_op{
    .signature = "BroadcastTo(input: T, shape: Tidx) -> (output: T); T: any; Tidx: {int32, int64}",
    .summary = "The input repeated along dimensions of size 1.",
    .shape = broadcast_to_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return unbroadcast(call, 0, std::move(dy)); },
    .forward = forward::linear({0}),
    .saves = Saves::nothing(),
};

const OpDef fill_op{
    .signature = "Fill(dims: index_type, value: T) -> (output: T); T: any; index_type: {int32, int64}",
    .summary = "A tensor of a given shape full of one value.",
    .shape = fill_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return Gradients{Gradient(), reshape(reduce_sum(std::move(dy)), call.input_shape(1))};
        },
    .saves = Saves::nothing(),
};

const OpDef zeros_like_op{
    .signature = "ZerosLike(x: T) -> (y: T); T: any",
    .summary = "Zeros in the shape and type of x.",
    .shape = shape::unchanged,
    .gradient = not_differentiable,
    .batching = batching::elementwise,
    .facts = {.shapes_only = true},
};

const OpDef ones_like_op{
    .signature = "OnesLike(x: T) -> (y: T); T: number|bool",
    .summary = "Ones in the shape and type of x.",
    .shape = shape::unchanged,
    .gradient = not_differentiable,
    .batching = batching::elementwise,
    .facts = {.shapes_only = true},
};

const OpDef identity_op{
    .signature = "Identity(input: T) -> (output: T); T: any",
    .summary = "The input as a new tensor.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall&, std::span<const Gradient> dy) { return dy[0]; },
    .batching = batching::elementwise,
    .forward = forward::linear({0}),
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

const OpDef stop_gradient_op{
    .signature = "StopGradient(input: T) -> (output: T); T: any",
    .summary = "The input as a new tensor through which no gradient flows.",
    .shape = shape::unchanged,
    .gradient = not_differentiable,
    .batching = batching::elementwise,
    .facts = {.elementwise = true},
};

const OpDef shape_op{
    .signature = "Shape(input: T) -> (output: out_type); T: any; out_type: {int32, int64}",
    .summary = "The input's shape as a vector.",
    .shape = shape_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ShapeAttributes>,
    .facts = {.shapes_only = true},
};

Tensor shape_tensor(const Shape& shape) {
  if (!shape.has_rank())
    throw InvalidArgument("a shape that is asked for must have a known number of dimensions, got " + shape.to_string());
  bool is_small = true;
  for (std::int64_t size : shape.dims()) is_small = is_small && size <= std::numeric_limits<std::int32_t>::max();
  if (!is_small) return constant(shape.dims(), Shape{shape.rank()});
  std::vector<std::int32_t> narrow(shape.dims().begin(), shape.dims().end());
  return constant(narrow);
}

Tensor reshape(Tensor x, Tensor shape) { return apply(reshape_op, {std::move(x), shape}); }
Tensor reshape(Tensor x, const Shape& shape) { return reshape(std::move(x), shape_tensor(shape)); }
Tensor broadcast_to(Tensor x, Tensor shape) { return apply(broadcast_to_op, {std::move(x), shape}); }
Tensor broadcast_to(Tensor x, const Shape& shape) { return broadcast_to(std::move(x), shape_tensor(shape)); }
Tensor fill(Tensor shape, Tensor value) { return apply(fill_op, {shape, value}); }
Tensor fill(const Shape& shape, Tensor value) { return fill(shape_tensor(shape), std::move(value)); }
Tensor zeros(const Shape& shape, DType dtype) {
  if (dtype == DType::string) return fill(shape, constant(""));
  if (dtype == DType::boolean) return fill(shape, constant(false));
  return fill(shape, constant(0, dtype));
}
Tensor ones(const Shape& shape, DType dtype) {
  return fill(shape, dtype == DType::boolean ? constant(true) : constant(1, dtype));
}
Tensor zeros_like(Tensor x) { return apply(zeros_like_op, {std::move(x)}); }
Tensor ones_like(Tensor x) { return apply(ones_like_op, {std::move(x)}); }
Tensor identity(Tensor x) { return apply(identity_op, {std::move(x)}); }
Tensor stop_gradient(Tensor x) { return apply(stop_gradient_op, {std::move(x)}); }
Tensor shape_of(Tensor x, DType out_type) {
  const ShapeAttributes attributes{out_type};
  return apply(shape_op, {std::move(x)}, &attributes);
}

OpList array_ops() {
  static constexpr const OpDef* list[] = {&reshape_op,   &broadcast_to_op, &fill_op,          &zeros_like_op,
                                          &ones_like_op, &identity_op,     &stop_gradient_op, &shape_op};
  return list;
}

}  // namespace capstan
