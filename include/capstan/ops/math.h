// Elementwise mathematics. Functions of two arguments broadcast as NumPy does and take numbers beside tensors:
// `maximum(x, 0)`, `2 * x`. Both arguments have the same element type; the result has the broadcast shape.
#pragma once

#include <span>

#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// x + y. Strings are concatenated.
Tensor add(Operand x, Operand y);
/// x - y.
Tensor subtract(Operand x, Operand y);
/// x * y.
Tensor multiply(Operand x, Operand y);
/// x / y of floating or complex numbers; for integers see `floordiv`.
Tensor divide(Operand x, Operand y);
/// -x.
Tensor negative(Tensor x);
/// x squared.
Tensor square(Tensor x);
/// e to the power x.
Tensor exp(Tensor x);
/// Natural logarithm.
Tensor log(Tensor x);
/// Hyperbolic tangent.
Tensor tanh(Tensor x);
/// Complex conjugate; real tensors come back as they are.
Tensor conj(Tensor x);
/// Sum of tensors of one shape and type; InvalidArgument for none.
Tensor add_n(std::span<const Tensor> tensors);

Tensor operator+(Operand x, Operand y);
Tensor operator-(Operand x, Operand y);
Tensor operator*(Operand x, Operand y);
Tensor operator/(Operand x, Operand y);
Tensor operator-(Tensor x);
Tensor& operator+=(Tensor& x, Operand y);
Tensor& operator-=(Tensor& x, Operand y);
Tensor& operator*=(Tensor& x, Operand y);
Tensor& operator/=(Tensor& x, Operand y);

}  // namespace capstan
