// IndexedSlices as tensors.
#include "capstan/base/error.h"
#include "capstan/op/gradient.h"

namespace capstan {

Tensor to_tensor(const IndexedSlices& slices) {
  if (!slices.dense_shape.is_defined())
    throw InvalidArgument("to_tensor(IndexedSlices): the dense shape is not known");
  throw Unimplemented("to_tensor(IndexedSlices): needs UnsortedSegmentSum");
}

}  // namespace capstan
