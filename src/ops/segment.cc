// Reductions of rows by segment number.
#include "capstan/ops/segment.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/math.h"
#include "capstan/ops/select.h"
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

/// The elements that are extreme in their segment share its gradient equally. `rows` picks rows by segment number,
/// `sum` adds them up.
template <class Rows, class Sum>
Tensor extreme_gradient(const OpCall& call, const Tensor& dy, Rows&& rows, Sum&& sum) {
  const Tensor is_extreme = equal(call.input(0), rows(call.output(0)));
  const Tensor share = dy / sum(cast(is_extreme, dy.dtype()));
  return where(is_extreme, rows(share), constant(0, dy.dtype()));
}

/// Each element's gradient is the product of the others in its segment: where one of them is 0 that is the product of
/// all but it, and where two are 0 nothing is left.
template <class Rows, class Sum, class Product>
Tensor product_gradient(const OpCall& call, Tensor dy, Rows&& rows, Sum&& sum, Product&& product) {
  const Tensor& data = call.input(0);
  const Tensor zero = constant(0, dy.dtype());
  const Tensor is_zero = equal(data, zero);
  dy = where(greater(sum(cast(is_zero, DType::int32)), 1), zero, dy);
  const Tensor others = where(is_zero, constant(1, dy.dtype()), data);
  const Tensor partial = where(is_zero, rows(product(others)), rows(call.output(0)) / others);
  return rows(dy) * conj(partial);
}

Tensor unsorted_extreme_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor &ids = call.input(1), &count = call.input(2);
  return extreme_gradient(
      call, dy, [&](const Tensor& x) { return rows_of_segments(x, ids); },
      [&](const Tensor& x) { return unsorted_segment_sum(x, ids, count); });
}

Tensor sorted_extreme_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& ids = call.input(1);
  return extreme_gradient(
      call, dy, [&](const Tensor& x) { return gather(x, ids); }, [&](const Tensor& x) { return segment_sum(x, ids); });
}

Tensor unsorted_product_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor &ids = call.input(1), &count = call.input(2);
  return product_gradient(
      call, dy, [&](const Tensor& x) { return rows_of_segments(x, ids); },
      [&](const Tensor& x) { return unsorted_segment_sum(x, ids, count); },
      [&](const Tensor& x) { return unsorted_segment_prod(x, ids, count); });
}

Tensor sorted_product_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& ids = call.input(1);
  return product_gradient(
      call, dy, [&](const Tensor& x) { return gather(x, ids); }, [&](const Tensor& x) { return segment_sum(x, ids); },
      [&](const Tensor& x) { return segment_prod(x, ids); });
}

/// dy divided by the number of rows of each segment, for each row.
Tensor mean_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& ids = call.input(1);
  const Tensor ones = cast(ones_like(ids), dy.dtype());
  Tensor counts = gather(segment_sum(ones, ids), ids);
  for (int i = 1; i < dy.rank(); ++i) counts = expand_dims(counts, -1);
  return gather(dy, ids) / counts;
}

}  // namespace

const OpDef unsorted_segment_sum_op{
    .signature =
        "UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T); "
        "T: number; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64}",
    .summary = "Sums of the rows that have the same segment number.",
    .shape = unsorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return rows_of_segments(dy, call.input(1)); },
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

const OpDef unsorted_segment_prod_op{
    .signature =
        "UnsortedSegmentProd(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T); "
        "T: number; Tindices: {int32, int64}; Tnumsegments: {int32, int64}",
    .summary = "Products of the rows that have the same segment number.",
    .shape = unsorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return unsorted_product_gradient(call, dy); },
};

const OpDef unsorted_segment_max_op{
    .signature =
        "UnsortedSegmentMax(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T); "
        "T: real; Tindices: {int32, int64}; Tnumsegments: {int32, int64}",
    .summary = "Largest elements of the rows that have the same segment number.",
    .shape = unsorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return unsorted_extreme_gradient(call, dy); },
};

const OpDef unsorted_segment_min_op{
    .signature =
        "UnsortedSegmentMin(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T); "
        "T: real; Tindices: {int32, int64}; Tnumsegments: {int32, int64}",
    .summary = "Smallest elements of the rows that have the same segment number.",
    .shape = unsorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return unsorted_extreme_gradient(call, dy); },
};

const OpDef segment_sum_op{
    .signature = "SegmentSum(data: T, segment_ids: Tindices) -> (output: T); T: number; Tindices: {int32, int64}",
    .summary = "Sums of rows by growing segment numbers.",
    .shape = sorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return gather(std::move(dy), call.input(1)); },
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

const OpDef segment_mean_op{
    .signature = "SegmentMean(data: T, segment_ids: Tindices) -> (output: T); T: number; Tindices: {int32, int64}",
    .summary = "Means of rows by growing segment numbers.",
    .shape = sorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return mean_gradient(call, dy); },
    .saves = Saves::only({1}),
};

const OpDef segment_prod_op{
    .signature = "SegmentProd(data: T, segment_ids: Tindices) -> (output: T); T: number; Tindices: {int32, int64}",
    .summary = "Products of rows by growing segment numbers.",
    .shape = sorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return sorted_product_gradient(call, dy); },
};

const OpDef segment_max_op{
    .signature = "SegmentMax(data: T, segment_ids: Tindices) -> (output: T); T: real; Tindices: {int32, int64}",
    .summary = "Largest elements of rows by growing segment numbers.",
    .shape = sorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return sorted_extreme_gradient(call, dy); },
};

const OpDef segment_min_op{
    .signature = "SegmentMin(data: T, segment_ids: Tindices) -> (output: T); T: real; Tindices: {int32, int64}",
    .summary = "Smallest elements of rows by growing segment numbers.",
    .shape = sorted_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return sorted_extreme_gradient(call, dy); },
};

Tensor unsorted_segment_sum(Tensor data, Tensor segment_ids, Tensor num_segments) {
  return apply(unsorted_segment_sum_op, {std::move(data), segment_ids, num_segments});
}
Tensor unsorted_segment_prod(Tensor data, Tensor segment_ids, Tensor num_segments) {
  return apply(unsorted_segment_prod_op, {std::move(data), segment_ids, num_segments});
}
Tensor unsorted_segment_max(Tensor data, Tensor segment_ids, Tensor num_segments) {
  return apply(unsorted_segment_max_op, {std::move(data), segment_ids, num_segments});
}
Tensor unsorted_segment_min(Tensor data, Tensor segment_ids, Tensor num_segments) {
  return apply(unsorted_segment_min_op, {std::move(data), segment_ids, num_segments});
}
Tensor segment_sum(Tensor data, Tensor segment_ids) { return apply(segment_sum_op, {std::move(data), segment_ids}); }
Tensor segment_mean(Tensor data, Tensor segment_ids) { return apply(segment_mean_op, {std::move(data), segment_ids}); }
Tensor segment_prod(Tensor data, Tensor segment_ids) { return apply(segment_prod_op, {std::move(data), segment_ids}); }
Tensor segment_max(Tensor data, Tensor segment_ids) { return apply(segment_max_op, {std::move(data), segment_ids}); }
Tensor segment_min(Tensor data, Tensor segment_ids) { return apply(segment_min_op, {std::move(data), segment_ids}); }

OpList segment_ops() {
  static constexpr const OpDef* list[] = {&unsorted_segment_sum_op, &unsorted_segment_prod_op, &unsorted_segment_max_op,
                                          &unsorted_segment_min_op, &segment_sum_op,           &segment_mean_op,
                                          &segment_prod_op,         &segment_max_op,           &segment_min_op};
  return list;
}

}  // namespace capstan
