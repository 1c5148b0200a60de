// Comparing tensors within the tolerance of their element type.
#pragma once

#include <gtest/gtest.h>

#include "capstan/tensor/tensor.h"

namespace capstan::conformance {

/// Stands for the tolerance of the element type.
inline constexpr double kOfType = -1;

/// Type, shape and elements agree; NaN equals NaN. Tolerances of 0 ask for the same numbers, bit by bit but for NaN.
::testing::AssertionResult nearly_equal(const Tensor& expected, const Tensor& got, double rtol = kOfType,
                                        double atol = kOfType);

/// Relative tolerance of a type for results that pass through a few roundings; 0 for exact types.
double tolerance_of(DType dtype);

}  // namespace capstan::conformance
