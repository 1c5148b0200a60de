// Choosing between two tensors, and bounding values.
#pragma once

#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// x where `condition` (bool) is true, else y; all three broadcast. No gradient reaches what was not chosen, but a
/// function that is NaN or infinite there still makes NaN on its own way back (0 * infinity): bound its argument first.
Tensor where(Tensor condition, Operand x, Operand y);
/// x bounded by the two: minimum first, so `low` wins if it is above `high`. The gradient at a bound is that of x.
Tensor clip_by_value(Operand x, Operand low, Operand high);

}  // namespace capstan
