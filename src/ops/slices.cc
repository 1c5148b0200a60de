// IndexedSlices as tensors.
#include "ops/slices.h"

#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/segment.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

constexpr std::int64_t kLargeDense = 100'000'000;  // elements from which on turning dense deserves a warning

void warn_if_large(const IndexedSlices& slices) {
  if (slices.dense_shape.is_symbolic()) return;
  const Shape dense(integers_of(slices.dense_shape));
  if (dense.is_fully_known() && dense.num_elements() >= kLargeDense)
    warn("IndexedSlices become a dense tensor of " + std::to_string(dense.num_elements()) +
         " elements; this may take much memory");
}

Tensor row_count(const Tensor& dense_shape) {
  if (dense_shape.is_symbolic()) return gather(dense_shape, constant(0));
  const std::vector<std::int64_t> dims = integers_of(dense_shape);
  if (dims.empty())
    throw InvalidArgument("to_tensor(IndexedSlices): the dense shape must have a first dimension, got []");
  return constant(dims[0]);
}

}  // namespace

Tensor to_tensor(const IndexedSlices& slices) {
  if (!slices.dense_shape.is_defined()) throw InvalidArgument("to_tensor(IndexedSlices): the dense shape is not known");
  warn_if_large(slices);
  return unsorted_segment_sum(slices.values, slices.indices, row_count(slices.dense_shape));
}

IndexedSlices concat_slices(std::span<const IndexedSlices> slices) {
  if (slices.empty()) throw InvalidArgument("concat_slices: needs at least one IndexedSlices");
  if (slices.size() == 1) return slices[0];
  bool is_mixed = false;
  for (const IndexedSlices& each : slices) is_mixed = is_mixed || each.indices.dtype() != slices[0].indices.dtype();
  std::vector<Tensor> values, indices;
  for (const IndexedSlices& each : slices) {
    values.push_back(each.values);
    indices.push_back(is_mixed ? cast(each.indices, DType::int64) : each.indices);
  }
  return {concat(values, 0), concat(indices, 0), slices[0].dense_shape};
}

}  // namespace capstan
