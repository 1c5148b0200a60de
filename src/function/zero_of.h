// The zero derivative of a value.
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan {

/// Zeros in the shape of a tensor, or of the variable behind a handle.
Tensor zero_of(const Tensor& tensor);

}  // namespace capstan
