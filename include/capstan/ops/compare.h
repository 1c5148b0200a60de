// Comparisons and logic, elementwise with NumPy's broadcasting; the results are bool tensors. The operators do the
// same: `x > 0 && x < 1` is a tensor (both sides are evaluated, there is no short way), and so is `a == b`. A tensor
// with one element is a condition: `if (a == b)`.
#pragma once

#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// x == y; NaN equals nothing. For numbers, bool and strings.
Tensor equal(Operand x, Operand y);
/// x != y.
Tensor not_equal(Operand x, Operand y);
/// x < y of real numbers; false beside NaN.
Tensor less(Operand x, Operand y);
/// x <= y.
Tensor less_equal(Operand x, Operand y);
/// x > y.
Tensor greater(Operand x, Operand y);
/// x >= y.
Tensor greater_equal(Operand x, Operand y);
/// x and y, of bool tensors.
Tensor logical_and(Operand x, Operand y);
/// x or y, of bool tensors.
Tensor logical_or(Operand x, Operand y);
/// Either x or y, not both.
Tensor logical_xor(Operand x, Operand y);
/// Not x, of a bool tensor.
Tensor logical_not(Tensor x);

Tensor operator==(Operand x, Operand y);
Tensor operator!=(Operand x, Operand y);
Tensor operator<(Operand x, Operand y);
Tensor operator<=(Operand x, Operand y);
Tensor operator>(Operand x, Operand y);
Tensor operator>=(Operand x, Operand y);
Tensor operator&&(const Tensor& x, const Tensor& y);
Tensor operator||(const Tensor& x, const Tensor& y);
Tensor operator!(Tensor x);

}  // namespace capstan
