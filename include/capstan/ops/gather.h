// Picking elements by index, and putting elements where indices say. Indices are not negative; one outside the valid
// range throws InvalidArgument before anything is written.
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan {

struct GatherOptions {
  std::int64_t axis = 0;        // the axis of x that indices count along; negative counts from the end
  std::int64_t batch_dims = 0;  // leading dimensions that x and indices share
};

/// The parts of x along an axis that `indices` name, in their order and shape. The gradient for axis 0 is
/// `IndexedSlices`.
Tensor gather(Tensor x, Tensor indices, const GatherOptions& options = {});
/// Each innermost vector of `indices` names an element or a part of x by its leading coordinates.
Tensor gather_nd(Tensor x, Tensor indices);
/// Zeros of `shape` with `updates` added where the innermost vectors of `indices` say.
Tensor scatter_nd(Tensor indices, Tensor updates, Tensor shape);
/// x with the parts that `indices` name replaced by `updates`, or combined with them.
Tensor tensor_scatter_update(Tensor x, Tensor indices, Tensor updates);
Tensor tensor_scatter_add(Tensor x, Tensor indices, Tensor updates);
Tensor tensor_scatter_sub(Tensor x, Tensor indices, Tensor updates);

}  // namespace capstan
