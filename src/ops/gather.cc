// Picking parts of a tensor by index.
#include "capstan/ops/gather.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "capstan/ops/segment.h"
#include "ops/gather.h"
#include "ops/records.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

void append(std::vector<std::int64_t>& dims, const Shape& shape, int begin, int end) {
  for (int i = begin; i < end; ++i) dims.push_back(shape[i]);
}

/// The leading dimensions that params and indices share, merged.
Shape merged_batch(const InferContext& context, int batch) {
  const Shape& params = context.input_shape(0);
  const Shape& indices = context.input_shape(1);
  const auto dims = [batch](const Shape& shape) { return Shape(shape.dims().first(static_cast<std::size_t>(batch))); };
  return context.merge(dims(params), dims(indices), "the batch dimensions of 'params' and 'indices'");
}

int batch_dims_of(const InferContext& context, int indices_rank) {
  const std::int64_t given = context.attributes<GatherAttributes>().batch_dims;
  if (given < -indices_rank || given > indices_rank)
    context.fail("'batch_dims' must be in [" + std::to_string(-indices_rank) + ", " + std::to_string(indices_rank) +
                 "] for indices of shape " + context.input_shape(1).to_string() + ", got " + std::to_string(given));
  return static_cast<int>(given < 0 ? given + indices_rank : given);
}

/// params, indices, axis.
void gather_shape(InferContext& context) {
  const Shape& params = context.input_shape(0);
  const Shape& indices = context.input_shape(1);
  context.require_rank_at_least(0, 1, "params");
  const auto axis = shape::axis_input(context, 2, params.rank(), "axis");
  if (!indices.has_rank()) return context.set_output(0, Shape::unknown());
  const int batch = batch_dims_of(context, indices.rank());
  if (!params.has_rank()) return context.set_output(0, Shape::unknown());
  if (!axis) return context.set_output(0, Shape::unknown_dims(params.rank() - 1 + indices.rank() - batch));
  if (batch > *axis)
    context.fail("'batch_dims' must not be above 'axis', got " + std::to_string(batch) + " and " +
                 std::to_string(*axis));
  const Shape shared = merged_batch(context, batch);
  std::vector<std::int64_t> dims(shared.dims().begin(), shared.dims().end());
  append(dims, params, batch, *axis);
  append(dims, indices, batch, indices.rank());
  append(dims, params, *axis + 1, params.rank());
  shape::set_output(context, 0, dims);
}

/// The rows 0, 1, 2, ... of a batch as an offset each, shaped to broadcast over the indices.
Tensor batch_offsets(const Shape& indices, int batch, std::int64_t step, DType dtype) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count_of(indices, 0, batch)));
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * step;
  Shape shape(indices.dims().first(static_cast<std::size_t>(batch)));
  while (shape.rank() < indices.rank()) shape.push_back(1);
  return constant_as(constant(offsets, shape), dtype);
}

/// dy is [batch, outer, index, inner]; its rows are summed by index into [batch, params[axis], outer, inner], whose
/// dimensions then go back to their places.
Tensor dense_gather_gradient(const OpCall& call, const Tensor& dy, int axis, int batch) {
  const Shape& params = call.input_shape(0);
  const Shape& picked = call.input_shape(1);
  if (!params.is_fully_known() || !picked.is_fully_known())
    throw Unimplemented("GatherV2: gradient along axis " + std::to_string(axis) + " between partly known shapes");
  const int index_rank = picked.rank() - batch, rank = dy.rank();
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + batch, perm.begin() + axis, perm.begin() + axis + index_rank);
  const std::int64_t rows = count_of(params, 0, batch) * params[axis];
  Tensor indices = call.input(1);
  if (batch > 0) {
    const DType wide = rows > std::numeric_limits<std::int32_t>::max() ? DType::int64 : DType::int32;
    if (indices.dtype() != DType::int64 && indices.dtype() != wide) indices = cast(indices, wide);
    indices = indices + batch_offsets(picked, batch, params[axis], indices.dtype());
  }
  const Tensor sums = unsorted_segment_sum(transpose(dy, perm), indices, constant(rows));
  // [batch, params[axis], outer, inner]
  Shape split;
  for (int i = 0; i < batch; ++i) split.push_back(params[i]);
  split.push_back(params[axis]);
  for (int i = batch; i < params.rank(); ++i)
    if (i != axis) split.push_back(params[i]);
  std::vector<std::int64_t> back(static_cast<std::size_t>(params.rank()));
  std::iota(back.begin(), back.end(), 0);
  std::rotate(back.begin() + batch, back.begin() + batch + 1, back.begin() + axis + 1);
  return transpose(reshape(sums, split), back);
}

Gradients gather_gradient(const OpCall& call, const Tensor& dy) {
  const Shape& params = call.input_shape(0);
  const Shape& picked = call.input_shape(1);
  if (call.input(2).is_symbolic()) throw Unimplemented("GatherV2: gradient with an axis that is not constant");
  const std::int64_t given_batch = call.attributes<GatherAttributes>().batch_dims;
  std::int64_t axis = integers_of(call.input(2))[0];
  if ((axis < 0 || given_batch != 0) && !(params.has_rank() && picked.has_rank()))
    throw Unimplemented("GatherV2: gradient between shapes of unknown rank");
  if (axis < 0) axis += params.rank();
  const std::int64_t batch = given_batch < 0 ? given_batch + picked.rank() : given_batch;
  if (axis != 0 || batch != 0)
    return {dense_gather_gradient(call, dy, static_cast<int>(axis), static_cast<int>(batch)), Gradient(), Gradient()};
  Shape rows = params;
  if (!rows.has_rank()) throw Unimplemented("GatherV2: gradient for params of unknown rank");
  rows.set_dim(0, picked.num_elements());
  return {IndexedSlices{reshape(dy, rows), reshape(call.input(1), Shape{-1}), shape_of_input(call, 0)}, Gradient(),
          Gradient()};
}

/// params, indices [..., depth].
void gather_nd_shape(InferContext& context) {
  context.attributes<BadIndices>().check(context);
  const Shape& params = context.input_shape(0);
  const Shape& indices = context.input_shape(1);
  context.require_rank_at_least(1, 1, "indices");
  if (!params.has_rank() || !indices.has_rank()) return context.set_output(0, Shape::unknown());
  const std::int64_t depth = indices[indices.rank() - 1];
  if (depth < 0) return context.set_output(0, Shape::unknown());
  if (depth > params.rank())
    context.fail("the last dimension of 'indices' must not be above the number of dimensions of 'params', got shapes " +
                 indices.to_string() + " and " + params.to_string());
  std::vector<std::int64_t> dims;
  append(dims, indices, 0, indices.rank() - 1);
  append(dims, params, static_cast<int>(depth), params.rank());
  shape::set_output(context, 0, dims);
}

/// Indices [n, 1] name rows: then the gradient is their slices.
Gradients gather_nd_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& indices = call.input(1);
  if (indices.rank() == 2 && indices.shape()[1] == 1 && !call.attributes<BadIndices>().ignores())
    return {IndexedSlices{dy, squeeze(indices, {-1}), shape_of_input(call, 0)}, Gradient()};
  return {apply(scatter_nd_op, {indices, dy, shape_of_input(call, 0, indices.dtype())}, call.raw_attributes()),
          Gradient()};
}

}  // namespace

void BadIndices::check(const InferContext& context) const {
  for (std::string_view allowed : {"", "DEFAULT", "ERROR", "IGNORE"})
    if (bad_indices_policy == allowed) return;
  context.fail("'bad_indices_policy' must be one of DEFAULT, ERROR, IGNORE, got \"" + bad_indices_policy + "\"");
}

const OpDef gather_v2_op{
    .signature =
        "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> (output: Tparams); Tparams: any; "
        "Tindices: {int16, int32, int64}; Taxis: {int32, int64}",
    .summary = "The parts of params along an axis that the indices name.",
    .shape = gather_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return gather_gradient(call, dy); },
    .forward = forward::linear({0}),
    .attributes = attributes<GatherAttributes>,
    .saves = Saves::only({1, 2}),
};

const OpDef gather_nd_op{
    .signature =
        "GatherNd(params: Tparams, indices: Tindices) -> (output: Tparams); Tparams: any; "
        "Tindices: {int16, int32, int64}",
    .summary = "The parts of params whose leading coordinates the innermost vectors of the indices are.",
    .shape = gather_nd_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return gather_nd_gradient(call, dy); },
    .forward = forward::linear({0}),
    .attributes = attributes<BadIndices>,
    .saves = Saves::only({1}),
};

Tensor gather(Tensor x, Tensor indices, const GatherOptions& options) {
  const GatherAttributes attributes{options.batch_dims};
  return apply(gather_v2_op, {std::move(x), indices, axis_tensor(options.axis)}, &attributes);
}
Tensor gather_nd(Tensor x, Tensor indices) { return apply(gather_nd_op, {std::move(x), indices}); }

OpList gather_ops() {
  static constexpr const OpDef* list[] = {&gather_v2_op, &gather_nd_op};
  return list;
}

}  // namespace capstan
