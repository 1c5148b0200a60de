// Comparing tensors within the tolerance of their element type.
#pragma once

#include <gtest/gtest.h>

#include "capstan/tensor/tensor.h"

namespace capstan::conformance {

/// Type, shape and elements agree; NaN equals NaN. A tolerance of 0 means that of the element type.
::testing::AssertionResult nearly_equal(const Tensor& expected, const Tensor& got, double rtol = 0, double atol = 0);

/// Relative tolerance of a type for results that pass through a few roundings; 0 for exact types.
double tolerance_of(DType dtype);

}  // namespace capstan::conformance
