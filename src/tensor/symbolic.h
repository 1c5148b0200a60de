// Symbolic tensors: a type and a shape that may be partly known, but no value. While a function is traced they stand
// for the outputs of its nodes.
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan {

Tensor new_symbolic_tensor(DType dtype, const Shape& shape);

}  // namespace capstan
