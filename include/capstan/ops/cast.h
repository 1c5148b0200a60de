// Conversion between element types.
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan {

/// The elements converted to another number type or bool. Floating numbers lose their fraction on the way to integers,
/// and stop at the integer type's bounds (NaN becomes 0); integers wrap around; complex numbers lose their imaginary
/// part; bool is "not zero". A tensor that has the type already comes back as it is.
Tensor cast(Tensor x, DType dtype);
/// The same bytes as another type: a last dimension is added or taken away if the sizes differ.
Tensor bitcast(Tensor x, DType dtype);

}  // namespace capstan
