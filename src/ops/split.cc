// Splitting tensors.
#include <algorithm>
#include <utility>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/concat.h"
#include "ops/records.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

void set_all(InferContext& context, const Shape& shape) {
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, shape);
}

void unpack_shape(InferContext& context) {
  const Shape& value = context.input_shape(0);
  const auto& attributes = context.attributes<UnpackAttributes>();
  if (!value.has_rank()) return set_all(context, value);
  context.require_rank_at_least(0, 1, "value");
  const int axis = context.normalize_axis(attributes.axis, value.rank(), "axis");
  if (value[axis] >= 0 && value[axis] != attributes.num)
    context.fail("'num' must be the size of dimension " + std::to_string(axis) + " of the value's shape " +
                 value.to_string() + ", got " + std::to_string(attributes.num));
  Shape member = value;
  member.erase(axis);
  set_all(context, member);
}

void require_parts(InferContext& context) {
  if (context.output_count() == 0) context.fail("'num_split' must be at least 1, got 0");
}

/// split_dim, value.
void split_shape(InferContext& context) {
  require_parts(context);
  const Shape& value = context.input_shape(1);
  context.require_rank_at_least(1, 1, "value");
  const auto axis = shape::axis_input(context, 0, value.rank(), "split_dim");
  if (!axis) return set_all(context, value.has_rank() ? Shape::unknown_dims(value.rank()) : value);
  const auto parts = static_cast<std::int64_t>(context.output_count());
  if (value[*axis] >= 0 && value[*axis] % parts != 0)
    context.fail("dimension " + std::to_string(*axis) + " of the value's shape " + value.to_string() +
                 " cannot be cut into " + std::to_string(parts) + " equal parts");
  Shape part = value;
  if (part[*axis] >= 0) part.set_dim(*axis, part[*axis] / parts);
  set_all(context, part);
}

/// The sizes of the parts, the one that is -1 filled in if `whole` is known.
std::vector<std::int64_t> part_sizes(const InferContext& context, std::int64_t whole) {
  std::vector<std::int64_t> sizes = context.integers(1);
  std::int64_t sum = 0;
  auto open = sizes.end();
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    if (*size < -1 || (*size == -1 && open != sizes.end()))
      context.fail("'size_splits' must be sizes of at least 0, one of them may be -1; got " + std::to_string(*size) +
                   (*size == -1 ? " twice" : ""));
    if (*size == -1)
      open = size;
    else if (__builtin_add_overflow(sum, *size, &sum))
      context.fail("the sum of 'size_splits' does not fit into 64 bits, at the size " + std::to_string(*size));
  }
  if (whole < 0) return sizes;
  if (open != sizes.end() ? sum > whole : sum != whole)
    context.fail("'size_splits' must add up to the size of the dimension, " + std::to_string(whole) +
                 ", got a sum of " + std::to_string(sum) + " for shape " + context.input_shape(0).to_string());
  if (open != sizes.end()) *open = whole - sum;
  return sizes;
}

/// value, size_splits, split_dim.
void split_v_shape(InferContext& context) {
  require_parts(context);
  const Shape& value = context.input_shape(0);
  const auto parts = static_cast<std::int64_t>(context.output_count());
  context.require_rank_at_least(0, 1, "value");
  context.require_rank(1, 1, "size_splits");
  if (!context.input_shape(1).is_compatible_with(Shape{parts}))
    context.fail("'size_splits' must have 'num_split' = " + std::to_string(parts) + " elements, got shape " +
                 context.input_shape(1).to_string());
  const auto axis = shape::axis_input(context, 2, value.rank(), "split_dim");
  if (!axis) return set_all(context, value.has_rank() ? Shape::unknown_dims(value.rank()) : value);
  Shape part = value;
  if (!context.input_value(1)) {
    if (parts > 1) part.set_dim(*axis, Shape::kUnknown);
    return set_all(context, part);
  }
  const std::vector<std::int64_t> sizes = part_sizes(context, value[*axis]);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    part.set_dim(*axis, sizes[i]);
    context.set_output(i, part);
  }
}

std::vector<Tensor> dense(std::span<const Gradient> gradients) {
  std::vector<Tensor> tensors;
  for (const Gradient& gradient : gradients) tensors.push_back(gradient.tensor());
  return tensors;
}

Tensor joined(std::span<const Gradient> gradients, const Tensor& axis) {
  std::vector<Tensor> inputs = dense(gradients);
  inputs.push_back(axis);
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return apply(concat_v2_op, refs, nullptr);
}

std::vector<Tensor> unpack_batching(const OpCall& call, std::span<const bool>) {
  UnpackAttributes moved = call.attributes<UnpackAttributes>();
  moved.axis = batching::axis_behind_batch(moved.axis);
  return apply_all(call.op(), {call.input(0)}, &moved);
}

}  // namespace

const OpDef unpack_op{
    .signature = "Unpack(value: T) -> (output: num*T); T: any",
    .summary = "The members of a tensor along an axis.",
    .shape = unpack_shape,
    .gradient =
        [](const OpCall& call, std::span<const Gradient> dy) {
          return Gradients{stack(dense(dy), call.attributes<UnpackAttributes>().axis)};
        },
    .batching = unpack_batching,
    .forward = forward::linear({0}),
    .attributes = attributes<UnpackAttributes>,
    .saves = Saves::nothing(),
};

const OpDef split_op{
    .signature = "Split(split_dim: int32, value: T) -> (output: num_split*T); T: any",
    .summary = "Parts of equal size along an axis.",
    .shape = split_shape,
    .gradient =
        [](const OpCall& call, std::span<const Gradient> dy) {
          return Gradients{Gradient(), joined(dy, call.input(0))};
        },
    .batching =
        [](const OpCall& call, std::span<const bool>) {
          return apply_all(call.op(), {batching::axes_behind_batch(call.input(0)), call.input(1)},
                           call.raw_attributes());
        },
    .forward = forward::linear({1}),
    .attributes = attributes<SplitAttributes>,
    .saves = Saves::only({0}),
};

const OpDef split_v_op{
    .signature =
        "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> (output: num_split*T); T: any; "
        "Tlen: {int32, int64, int8}",
    .summary = "Parts of given sizes along an axis.",
    .shape = split_v_shape,
    .gradient =
        [](const OpCall& call, std::span<const Gradient> dy) {
          return Gradients{joined(dy, call.input(2)), Gradient(), Gradient()};
        },
    .batching =
        [](const OpCall& call, std::span<const bool>) {
          return apply_all(call.op(), {call.input(0), call.input(1), batching::axes_behind_batch(call.input(2))},
                           call.raw_attributes());
        },
    .forward = forward::linear({0}),
    .attributes = attributes<SplitAttributes>,
    .saves = Saves::only({2}),
};

std::vector<Tensor> unstack(Tensor x, std::int64_t axis) {
  const Shape& shape = x.shape();
  if (!shape.has_rank() || axis < -shape.rank() || axis >= shape.rank() || shape.dim(static_cast<int>(axis)) < 0)
    throw InvalidArgument("unstack: dimension " + std::to_string(axis) +
                          " must exist and have a known size, got shape " + shape.to_string());
  const UnpackAttributes attributes{shape.dim(static_cast<int>(axis)), axis};
  return apply_all(unpack_op, {std::move(x)}, &attributes);
}
namespace {

// The ops take the axis as int32 only.
Tensor narrow_axis(const Tensor& x, std::int64_t axis) {
  if (!std::in_range<std::int32_t>(axis))
    throw InvalidArgument("split: axis " + std::to_string(axis) + " does not exist in shape " + x.shape().to_string());
  return constant(static_cast<std::int32_t>(axis));
}

}  // namespace

std::vector<Tensor> split(Tensor x, std::int64_t count, std::int64_t axis) {
  const SplitAttributes attributes{count};
  const Tensor at = narrow_axis(x, axis);
  return apply_all(split_op, {at, std::move(x)}, &attributes);
}
std::vector<Tensor> split(Tensor x, const std::vector<std::int64_t>& sizes, std::int64_t axis) {
  const SplitAttributes attributes{static_cast<std::int64_t>(sizes.size())};
  const Tensor at = narrow_axis(x, axis);
  return apply_all(split_v_op, {std::move(x), constant(sizes), at}, &attributes);
}

OpList split_ops() {
  static constexpr const OpDef* list[] = {&unpack_op, &split_op, &split_v_op};
  return list;
}

}  // namespace capstan
