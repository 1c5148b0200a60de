// Type and shape of the value that a tensor is or, for a variable's handle, stands for.
#pragma once

#include "capstan/op/infer.h"
#include "tensor/handle.h"
#include "tensor/storage.h"

namespace capstan {

inline TensorSpec value_spec(const Tensor& tensor) {
  if (tensor.dtype() != DType::resource) return {tensor.dtype(), tensor.shape()};
  const Resource* resource = resource_of(tensor);
  return {resource->value_dtype(), resource->value_shape()};
}

}  // namespace capstan
