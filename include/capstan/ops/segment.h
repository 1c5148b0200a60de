// Reductions of rows that belong together. Row i of the result combines the rows of `data` whose segment number is i;
// `segment_ids` has the leading dimensions of `data`.
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan {

/// Segment numbers in any order; negative ones are left out, those from `num_segments` on are an InvalidArgument. An
/// empty segment is 0, 1, the smallest or the largest value of the type.
Tensor unsorted_segment_sum(Tensor data, Tensor segment_ids, Tensor num_segments);
Tensor unsorted_segment_prod(Tensor data, Tensor segment_ids, Tensor num_segments);
Tensor unsorted_segment_max(Tensor data, Tensor segment_ids, Tensor num_segments);
Tensor unsorted_segment_min(Tensor data, Tensor segment_ids, Tensor num_segments);
/// Segment numbers of at least 0 that do not fall; the last one says how many there are. An empty segment is 0, or 1
/// for products.
Tensor segment_sum(Tensor data, Tensor segment_ids);
Tensor segment_mean(Tensor data, Tensor segment_ids);
Tensor segment_prod(Tensor data, Tensor segment_ids);
Tensor segment_max(Tensor data, Tensor segment_ids);
Tensor segment_min(Tensor data, Tensor segment_ids);

}  // namespace capstan
