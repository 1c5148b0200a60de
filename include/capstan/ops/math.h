// Elementwise mathematics. Functions of two arguments broadcast as NumPy does and take numbers beside tensors:
// `maximum(x, 0)`, `2 * x`. Both arguments have the same element type; the result has the broadcast shape.
// Comparisons and logic stand in compare.h, `where` in select.h, `cast` in cast.h.
#pragma once

#include <span>

#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

// ---- arithmetic -----------------------------------------------------------------------------------------------------

/// x + y. Strings are joined.
Tensor add(Operand x, Operand y);
/// x - y.
Tensor subtract(Operand x, Operand y);
/// x * y.
Tensor multiply(Operand x, Operand y);
/// x / y of floating or complex numbers; for integers see `floordiv`.
Tensor divide(Operand x, Operand y);
/// x * y, but 0 where y is 0, even if x is infinite or NaN.
Tensor multiply_no_nan(Operand x, Operand y);
/// x / y, but 0 where y is 0.
Tensor divide_no_nan(Operand x, Operand y);
/// x / y rounded down. Integers: InvalidArgument for a divisor 0; the minimum divided by -1 wraps to itself.
Tensor floordiv(Operand x, Operand y);
/// What `floordiv` leaves, with the sign of y; also written `x % y`.
Tensor floormod(Operand x, Operand y);
/// x / y rounded towards zero.
Tensor truncatediv(Operand x, Operand y);
/// What `truncatediv` leaves, with the sign of x.
Tensor truncatemod(Operand x, Operand y);
/// The larger one; NaN if either is NaN.
Tensor maximum(Operand x, Operand y);
/// The smaller one; NaN if either is NaN.
Tensor minimum(Operand x, Operand y);
/// (x - y) squared.
Tensor squared_difference(Operand x, Operand y);
/// x to the power y. Integers: InvalidArgument for a negative power. The gradient of x^0 at 0 is 0.
Tensor pow(Operand x, Operand y);
/// The angle of the point (x, y), in [-pi, pi].
Tensor atan2(Operand y, Operand x);
/// x log(y), but 0 where x is 0.
Tensor xlogy(Operand x, Operand y);
/// x / y, but 0 where x is 0.
Tensor xdivy(Operand x, Operand y);
/// x log(1 + y), but 0 where x is 0.
Tensor xlog1py(Operand x, Operand y);
/// Sum of tensors of one shape and type; InvalidArgument for none.
Tensor add_n(std::span<const Tensor> tensors);

Tensor operator+(Operand x, Operand y);
Tensor operator-(Operand x, Operand y);
Tensor operator*(Operand x, Operand y);
Tensor operator/(Operand x, Operand y);
Tensor operator%(Operand x, Operand y);
Tensor operator-(Tensor x);
Tensor& operator+=(Tensor& x, Operand y);
Tensor& operator-=(Tensor& x, Operand y);
Tensor& operator*=(Tensor& x, Operand y);
Tensor& operator/=(Tensor& x, Operand y);

// ---- functions of one argument --------------------------------------------------------------------------------------

/// -x.
Tensor negative(Tensor x);
/// Absolute value; of complex numbers the magnitude, a real tensor.
Tensor abs(Tensor x);
/// -1, 0 or 1; of complex numbers x / |x|.
Tensor sign(Tensor x);
/// x squared.
Tensor square(Tensor x);
/// 1 / x.
Tensor reciprocal(Tensor x);
/// Square root.
Tensor sqrt(Tensor x);
/// 1 / sqrt(x).
Tensor rsqrt(Tensor x);
/// The next whole number below.
Tensor floor(Tensor x);
/// The next whole number above.
Tensor ceil(Tensor x);
/// The nearest whole number, halves to even.
Tensor round(Tensor x);
/// The same; TensorFlow has both names.
Tensor rint(Tensor x);
/// Is it NaN? The result is bool, as of the next two.
Tensor is_nan(Tensor x);
/// Is it plus or minus infinity?
Tensor is_inf(Tensor x);
/// Is it neither?
Tensor is_finite(Tensor x);

/// e to the power x.
Tensor exp(Tensor x);
/// e^x - 1, exact also near 0.
Tensor expm1(Tensor x);
/// Natural logarithm.
Tensor log(Tensor x);
/// log(1 + x), exact also near 0.
Tensor log1p(Tensor x);
/// Hyperbolic tangent.
Tensor tanh(Tensor x);
/// 1 / (1 + e^-x).
Tensor sigmoid(Tensor x);
/// The error function.
Tensor erf(Tensor x);
/// 1 - erf(x), exact also for large x.
Tensor erfc(Tensor x);
/// Logarithm of the gamma function's magnitude.
Tensor lgamma(Tensor x);
/// The derivative of lgamma.
Tensor digamma(Tensor x);
/// The derivative of order a of digamma, for float32 and float64; a is a whole number.
Tensor polygamma(Operand a, Operand x);
/// Hurwitz' zeta function: the sum of (q + k)^-x over k = 0, 1, ...; for float32 and float64.
Tensor zeta(Operand x, Operand q);

Tensor sin(Tensor x);
Tensor cos(Tensor x);
Tensor tan(Tensor x);
Tensor asin(Tensor x);
Tensor acos(Tensor x);
Tensor atan(Tensor x);
Tensor sinh(Tensor x);
Tensor cosh(Tensor x);
Tensor asinh(Tensor x);
Tensor acosh(Tensor x);
Tensor atanh(Tensor x);

// ---- complex numbers ------------------------------------------------------------------------------------------------

/// Complex conjugate; real tensors come back as they are.
Tensor conj(Tensor x);
/// Real part; real tensors come back as they are.
Tensor real(Tensor x);
/// Imaginary part; zeros for real tensors.
Tensor imag(Tensor x);
/// Angle in the plane, in (-pi, pi]; 0 or pi for real tensors.
Tensor angle(Tensor x);
/// Complex numbers of their parts, both float32 or both float64.
Tensor complex(Operand real, Operand imag);

}  // namespace capstan
