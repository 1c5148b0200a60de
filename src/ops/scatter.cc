// Putting parts of a tensor where indices say.
#include "capstan/ops/array.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/math.h"
#include "ops/gather.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// Makes sure that `updates` has the shape indices.shape[:-1] + target.shape[depth:].
void check_updates(InferContext& context, const Shape& target, const Shape& indices, const Shape& updates) {
  if (!indices.has_rank()) return;
  if (indices.rank() == 0) context.fail("'indices' must have at least 1 dimension, got shape []");
  const std::int64_t depth = indices[indices.rank() - 1];
  if (depth < 0 || !target.has_rank()) return;
  if (depth > target.rank())
    context.fail(
        "the last dimension of 'indices' must not be above the number of dimensions written to, got indices of "
        "shape " +
        indices.to_string() + " for shape " + target.to_string());
  Shape expected;
  for (int i = 0; i + 1 < indices.rank(); ++i) expected.push_back(indices[i]);
  for (auto i = static_cast<int>(depth); i < target.rank(); ++i) expected.push_back(target[i]);
  if (!expected.is_compatible_with(updates))
    context.fail("'updates' must have shape " + expected.to_string() + " for indices of shape " + indices.to_string() +
                 " into shape " + target.to_string() + ", got " + updates.to_string());
}

/// indices, updates, shape.
void scatter_nd_shape(InferContext& context) {
  context.attributes<BadIndices>().check(context);
  const Shape target = context.shape_from_input(2);
  check_updates(context, target, context.input_shape(0), context.input_shape(1));
  if (!target.has_rank()) return context.set_output(0, target);
  shape::set_output(context, 0, target.dims());
  if (target.is_fully_known() && target.num_elements() == 0 && context.input_shape(1).is_fully_known() &&
      context.input_shape(1).num_elements() > 0)
    context.fail("updates of shape " + context.input_shape(1).to_string() + " cannot be put into the empty shape " +
                 target.to_string());
}

/// tensor, indices, updates.
void tensor_scatter_shape(InferContext& context) {
  context.attributes<BadIndices>().check(context);
  check_updates(context, context.input_shape(0), context.input_shape(1), context.input_shape(2));
  context.set_output(0, context.input_shape(0));
}

Tensor gathered(const OpCall& call, const Tensor& from, const Tensor& indices) {
  return apply(gather_nd_op, {from, indices}, call.raw_attributes());
}

Tensor scatter_over(const OpDef& op, Tensor x, const Tensor& indices, const Tensor& updates) {
  return apply(op, {std::move(x), indices, updates});
}

}  // namespace

const OpDef scatter_nd_op{
    .signature =
        "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> (output: T); T: any; "
        "Tindices: {int16, int32, int64}",
    .summary = "Zeros with updates added where indices say.",
    .shape = scatter_nd_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return Gradients{Gradient(), gathered(call, dy, call.input(0)), Gradient()};
        },
    .forward = forward::linear({1}),
    .attributes = attributes<BadIndices>,
    .saves = Saves::only({0}),
};

const OpDef tensor_scatter_update_op{
    .signature =
        "TensorScatterUpdate(tensor: T, indices: Tindices, updates: T) -> (output: T); T: any; "
        "Tindices: {int16, int32, int64, uint16}",
    .summary = "A tensor with the parts that indices name replaced.",
    .shape = tensor_scatter_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Gradients gradients(3);
          const Tensor& indices = call.input(1);
          if (call.needs_gradient(0))
            gradients[0] = apply(tensor_scatter_update_op, {dy, indices, zeros(call.input_shape(2), dy.dtype())},
                                 call.raw_attributes());
          if (call.needs_gradient(2)) gradients[2] = gathered(call, dy, indices);
          return gradients;
        },
    .forward = forward::linear({0, 2}),
    .attributes = attributes<BadIndices>,
    .saves = Saves::only({1}),
};

const OpDef tensor_scatter_add_op{
    .signature =
        "TensorScatterAdd(tensor: T, indices: Tindices, updates: T) -> (output: T); T: any; "
        "Tindices: {int32, int64}",
    .summary = "A tensor with updates added to the parts that indices name.",
    .shape = tensor_scatter_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return Gradients{dy, Gradient(),
                           call.needs_gradient(2) ? Gradient(gathered(call, dy, call.input(1))) : Gradient()};
        },
    .forward = forward::linear({0, 2}),
    .attributes = attributes<BadIndices>,
    .saves = Saves::only({1}),
};

const OpDef tensor_scatter_sub_op{
    .signature =
        "TensorScatterSub(tensor: T, indices: Tindices, updates: T) -> (output: T); T: any; "
        "Tindices: {int32, int64}",
    .summary = "A tensor with updates subtracted from the parts that indices name.",
    .shape = tensor_scatter_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return Gradients{dy, Gradient(),
                           call.needs_gradient(2) ? Gradient(negative(gathered(call, dy, call.input(1)))) : Gradient()};
        },
    .attributes = attributes<BadIndices>,
    .saves = Saves::only({1}),
};

Tensor scatter_nd(Tensor indices, Tensor updates, Tensor shape) {
  return apply(scatter_nd_op, {indices, updates, shape});
}
Tensor tensor_scatter_update(Tensor x, Tensor indices, Tensor updates) {
  return scatter_over(tensor_scatter_update_op, std::move(x), indices, updates);
}
Tensor tensor_scatter_add(Tensor x, Tensor indices, Tensor updates) {
  return scatter_over(tensor_scatter_add_op, std::move(x), indices, updates);
}
Tensor tensor_scatter_sub(Tensor x, Tensor indices, Tensor updates) {
  return scatter_over(tensor_scatter_sub_op, std::move(x), indices, updates);
}

OpList scatter_ops() {
  static constexpr const OpDef* list[] = {&scatter_nd_op, &tensor_scatter_update_op, &tensor_scatter_add_op,
                                          &tensor_scatter_sub_op};
  return list;
}

}  // namespace capstan
