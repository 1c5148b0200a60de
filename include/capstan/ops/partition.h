// Sorting rows into parts and putting them back, different elements, and places of true elements. The sizes of the
// results depend on values.
#pragma once

#include <span>
#include <vector>

#include "capstan/tensor/tensor.h"

namespace capstan {

/// Part i holds the rows of `data` whose number in `partitions` (int32) is i, in their order.
std::vector<Tensor> dynamic_partition(Tensor data, Tensor partitions, std::int64_t count);
/// Row `indices[k][i]` of the result is row i of `data[k]`; where a row is named twice the last one counts. Rows that
/// nobody names are zeros.
Tensor dynamic_stitch(std::span<const Tensor> indices, std::span<const Tensor> data);

struct UniqueResult {
  Tensor values;   // the different elements, in the order of their first occurrence
  Tensor indices;  // for each element of x its place in `values`
};
UniqueResult unique(Tensor x, DType index_type = DType::int32);
/// The coordinates of the elements that are true or not zero, as rows of int64, in row-major order.
Tensor where(Tensor condition);

}  // namespace capstan
