// Joining tensors.
#include "ops/concat.h"

#include <vector>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/records.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// Shapes of the same rank that agree but for `axis` (everywhere if it is -1), merged.
Shape merge_but_axis(InferContext& context, std::size_t count, int axis) {
  Shape merged = Shape::unknown();
  for (std::size_t i = 0; i < count; ++i) {
    Shape next = context.input_shape(i);
    if (next.has_rank() && axis >= 0 && axis < next.rank()) next.set_dim(axis, Shape::kUnknown);
    merged =
        context.merge(merged, next, axis < 0 ? "the shapes of 'values'" : "the shapes of 'values' outside the axis");
  }
  return merged;
}

int common_rank(InferContext& context, std::size_t count) {
  int rank = Shape::kUnknown;
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = context.input_shape(i);
    if (!shape.has_rank()) continue;
    if (rank >= 0 && rank != shape.rank())
      context.fail("'values' must have the same number of dimensions, got shapes " +
                   context.input_shape(0).to_string() + " and " + shape.to_string());
    rank = shape.rank();
  }
  return rank;
}

/// values: N shapes, axis.
void concat_shape(InferContext& context) {
  const std::size_t count = context.input_count() - 1;
  if (count == 0) context.fail("'values' must hold at least one tensor");
  const int rank = common_rank(context, count);
  if (rank == 0) context.fail("scalars (shape []) cannot be joined along an axis; use stack");
  const std::optional<int> axis = shape::axis_input(context, count, rank, "axis");
  if (!axis) return context.set_output(0, rank < 0 ? Shape::unknown() : Shape::unknown_dims(rank));
  Shape joined = merge_but_axis(context, count, *axis);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count && total >= 0; ++i) {
    const Shape& shape = context.input_shape(i);
    const std::int64_t size = shape.has_rank() ? shape[*axis] : Shape::kUnknown;
    if (size < 0)
      total = Shape::kUnknown;
    else if (__builtin_add_overflow(total, size, &total))
      context.fail("the joined dimension does not fit into 64 bits, at shape " + shape.to_string());
  }
  joined.set_dim(*axis, total);
  shape::set_output(context, 0, joined.dims());
}

/// concat_dim: scalar, shape: N vectors of one length.
void concat_offset_shape(InferContext& context) {
  context.require_rank(0, 0, "concat_dim");
  Shape merged = Shape::unknown();
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    context.require_rank(i, 1, "shape");
    merged = context.merge(merged, context.input_shape(i), "the lengths of 'shape'");
  }
  for (std::size_t i = 0; i < context.output_count(); ++i)
    context.set_output(i, context.input_shape(i + 1).has_rank() ? merged : Shape::unknown_dims(1));
}

/// values: N tensors of one shape.
void pack_shape(InferContext& context) {
  if (context.input_count() == 0) context.fail("'values' must hold at least one tensor");
  const Shape merged = merge_but_axis(context, context.input_count(), -1);
  if (!merged.has_rank()) return context.set_output(0, merged);
  const int axis = context.normalize_axis(context.attributes<PackAttributes>().axis, merged.rank() + 1, "axis");
  std::vector<std::int64_t> dims(merged.dims().begin(), merged.dims().end());
  dims.insert(dims.begin() + axis, static_cast<std::int64_t>(context.input_count()));
  shape::set_output(context, 0, dims);
}

/// The sizes of the inputs along `axis`, if that is where they could have been joined.
bool sizes_along(const OpCall& call, const Shape& joined, int axis, std::vector<std::int64_t>& sizes) {
  sizes.clear();
  std::int64_t total = 0;
  for (std::size_t i = 0; i + 1 < call.input_count(); ++i) {
    Shape part = call.input_shape(i);
    if (part.rank() != joined.rank()) return false;
    sizes.push_back(part[axis]);
    total = total < 0 || part[axis] < 0 ? Shape::kUnknown : total + part[axis];
    part.set_dim(axis, joined[axis]);
    if (!part.is_compatible_with(joined)) return false;
  }
  return total < 0 || joined[axis] < 0 || total == joined[axis];
}

/// The axis is not saved (it stands behind the last value): the shapes tell it. Where two axes fit, everything is empty
/// or there is one value, and both give the same gradient.
Gradients concat_gradient(const OpCall& call, const Tensor& dy) {
  std::vector<std::int64_t> sizes;
  int axis = 0;
  while (axis < dy.rank() && !sizes_along(call, dy.shape(), axis, sizes)) ++axis;
  bool is_known = axis < dy.rank();
  for (std::int64_t size : sizes) is_known = is_known && size >= 0;
  if (!is_known) throw Unimplemented("ConcatV2: gradient where the joined sizes are not known");
  Gradients gradients;
  for (Tensor& part : split(dy, sizes, axis)) gradients.push_back(std::move(part));
  gradients.push_back({});
  return gradients;
}

std::vector<Tensor> concat_batching(const OpCall& call, std::span<const bool> is_batched) {
  const std::size_t count = call.input_count() - 1;
  std::vector<Tensor> inputs = batching::with_batch(call, is_batched, count);
  inputs.push_back(batching::axes_behind_batch(call.input(count)));
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return apply_all(call.op(), refs, call.raw_attributes());
}

std::vector<Tensor> pack_batching(const OpCall& call, std::span<const bool> is_batched) {
  PackAttributes moved = call.attributes<PackAttributes>();
  moved.axis = batching::axis_behind_batch(moved.axis);
  const std::vector<Tensor> inputs = batching::with_batch(call, is_batched);
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return apply_all(call.op(), refs, &moved);
}

}  // namespace

const OpDef concat_v2_op{
    .signature = "ConcatV2(values: N*T, axis: Tidx) -> (output: T); T: any; Tidx: {int32, int64}",
    .summary = "Tensors joined along an axis.",
    .shape = concat_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return concat_gradient(call, dy); },
    .batching = concat_batching,
    .forward = forward::linear_in_all(),
    .saves = Saves::nothing(),
};

const OpDef concat_offset_op{
    .signature =
        "ConcatOffset(concat_dim: int32, shape: N*shape_type) -> (offset: N*shape_type); "
        "shape_type: {int32, int64}",
    .summary = "Where each of several shapes begins after they were joined along an axis.",
    .shape = concat_offset_shape,
    .gradient = not_differentiable,
};

const OpDef pack_op{
    .signature = "Pack(values: N*T) -> (output: T); T: any",
    .summary = "Tensors of one shape joined along a new axis.",
    .shape = pack_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Gradients gradients;
          for (Tensor& part : unstack(dy, call.attributes<PackAttributes>().axis)) gradients.push_back(std::move(part));
          return gradients;
        },
    .batching = pack_batching,
    .forward = forward::linear_in_all(),
    .attributes = attributes<PackAttributes>,
    .saves = Saves::nothing(),
};

Tensor concat(std::span<const Tensor> values, std::int64_t axis) {
  std::vector<InputRef> inputs(values.begin(), values.end());
  const Tensor at = axis_tensor(axis);
  inputs.push_back(at);
  return apply(concat_v2_op, inputs, nullptr);
}
Tensor concat(std::initializer_list<Tensor> values, std::int64_t axis) {
  return concat(std::span(values.begin(), values.size()), axis);
}
Tensor stack(std::span<const Tensor> values, std::int64_t axis) {
  const PackAttributes attributes{axis};
  std::vector<InputRef> inputs(values.begin(), values.end());
  return apply(pack_op, inputs, &attributes);
}
Tensor stack(std::initializer_list<Tensor> values, std::int64_t axis) {
  return stack(std::span(values.begin(), values.size()), axis);
}

OpList concat_ops() {
  static constexpr const OpDef* list[] = {&concat_v2_op, &concat_offset_op, &pack_op};
  return list;
}

}  // namespace capstan
