// Type and shape of the value that a tensor is or, for a variable's handle, stands for.
#pragma once

#include <span>
#include <vector>

#include "capstan/op/infer.h"
#include "tensor/handle.h"
#include "tensor/storage.h"

namespace capstan {

inline TensorSpec value_spec(const Tensor& tensor) {
  if (tensor.dtype() != DType::resource) return {tensor.dtype(), tensor.shape()};
  const Resource* resource = resource_of(tensor);
  return {resource->value_dtype(), resource->value_shape()};
}

inline std::vector<TensorSpec> value_specs(std::span<const Tensor> tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : tensors) specs.push_back(value_spec(tensor));
  return specs;
}

}  // namespace capstan
