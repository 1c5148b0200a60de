// Reductions of rows by segment number.
#include "capstan/ops/segment.h"

#include "capstan/ops/array.h"
#include "ops/gather.h"
#include "ops/records.h"
#include "ops/segment.h"

namespace capstan {
namespace {

/// data [ids..., inner...], segment_ids, num_segments: scalar.
void unsorted_shape(InferContext& context) {
  const Shape& data = context.input_shape(0);
  const Shape& ids = context.input_shape(1);
  context.require_rank(2, 0, "num_segments");
  std::int64_t count = Shape::kUnknown;
  if (context.input_value(2)) {
    count = context.integers(2)[0];
    if (count < 0) context.fail("'num_segments' must not be negative, got " + std::to_string(count));
  }
  if (!ids.has_rank() || !data.has_rank()) return context.set_output(0, Shape::unknown());
  const auto begins_with_ids = [&] {
    if (ids.rank() > data.rank()) return false;
    return Shape(data.dims().first(static_cast<std::size_t>(ids.rank()))).is_compatible_with(ids);
  };
  if (!begins_with_ids())
    context.fail("the shape of 'data' must begin with that of 'segment_ids', got shapes " + data.to_string() + " and " +
                 ids.to_string());
  std::vector<std::int64_t> dims{count};
  for (int i = ids.rank(); i < data.rank(); ++i) dims.push_back(data[i]);
  shape::set_output(context, 0, dims);
}

/// data [n, ...], segment_ids [n].
void sorted_shape(InferContext& context) {
  Shape data = context.input_shape(0);
  context.require_rank(1, 1, "segment_ids");
  context.require_rank_at_least(0, 1, "data");
  if (!data.has_rank()) return context.set_output(0, data);
  const Shape& ids = context.input_shape(1);
  if (ids.has_rank() && ids[0] >= 0 && data[0] >= 0 && ids[0] != data[0])
    context.fail("'segment_ids' must have one element per row of 'data', got shapes " + ids.to_string() + " and " +
                 data.to_string());
  data.set_dim(0, Shape::kUnknown);
  context.set_output(0, data);
}

/// Rows of dy by segment number; zeros for negative ones.
Tensor rows_of_segments(const Tensor& dy, const Tensor& ids) {
  const BadIndices ignore{"IGNORE"};
  return apply(gather_nd_op, {dy, expand_dims(ids, -1)}, &ignore);
}

}  // namespace

const OpDef unsorted_segment_sum_op{
    .signature = "UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T); "
                 "T: number; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64}",
    .summary = "Sums of the rows that have the same segment number.",
    .shape = unsorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return rows_of_segments(dy, call.input(1)); },
    .saves = Saves::only({1}),
};

Tensor unsorted_segment_sum(Tensor data, Tensor segment_ids, Tensor num_segments) {
  return apply(unsorted_segment_sum_op, {std::move(data), segment_ids, num_segments});
}

OpList segment_ops() {
  static constexpr const OpDef* list[] = {&unsorted_segment_sum_op};
  return list;
}

}  // namespace capstan
