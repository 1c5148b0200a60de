// Elementwise operations of one argument: arithmetic, powers, rounding and tests, and the gradients that are ops of
// their own.
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {

const OpDef neg_op = unary_record(
    "Neg(x: T) -> (y: T); T: floating|complex|signed", "-x, elementwise.",
    [](const OpCall&, Tensor dy) { return negative(std::move(dy)); }, Saves::nothing());

const OpDef abs_op = unary_record(
    "Abs(x: T) -> (y: T); T: floating|signed", "Absolute value, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * sign(call.input(0)); }, Saves::all_inputs());

const OpDef sign_op = unary_record(
    "Sign(x: T) -> (y: T); T: floating|complex|signed", "-1, 0 or 1; of complex numbers x / |x|. Elementwise.",
    [](const OpCall&, Tensor dy) { return zeros_like(std::move(dy)); }, Saves::nothing());

const OpDef square_op = unary_record(
    "Square(x: T) -> (y: T); T: number", "x * x, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * (2 * conj(call.input(0))); }, Saves::all_inputs());

// ---- powers whose gradient is an op of its own, computed from the output --------------------------------------------

namespace {

Gradients reciprocal_grad_gradient(const OpCall& call, const Tensor& dz) {
  const Tensor y = conj(call.input(0));
  return {conj(dz) * -2 * call.input(1) * y, apply(reciprocal_grad_op, {y, dz})};
}

}  // namespace

const OpDef reciprocal_op = unary_record(
    "Reciprocal(x: T) -> (y: T); T: floating|complex|signed", "1 / x, elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(reciprocal_grad_op, {call.output(0), std::move(dy)});
    },
    Saves::all_outputs());

const OpDef reciprocal_grad_op = paired_record(
    "ReciprocalGrad(y: T, dy: T) -> (z: T); T: floating|complex",
    "-dy * y * y: the gradient of 1 / x, from its output y.",
    [](const OpCall& call, Tensor dz) { return reciprocal_grad_gradient(call, dz); }, Saves::all_inputs());

const OpDef inv_op = unary_record(
    "Inv(x: T) -> (y: T); T: floating|complex|signed", "1 / x, elementwise: the old name of Reciprocal.",
    [](const OpCall& call, Tensor dy) {
      return apply(reciprocal_grad_op, {call.output(0), std::move(dy)});
    },
    Saves::all_outputs());

const OpDef inv_grad_op = paired_record(
    "InvGrad(y: T, dy: T) -> (z: T); T: floating|complex", "-dy * y * y: the old name of ReciprocalGrad.",
    [](const OpCall& call, Tensor dz) { return reciprocal_grad_gradient(call, dz); }, Saves::all_inputs());

const OpDef sqrt_op = unary_record(
    "Sqrt(x: T) -> (y: T); T: floating|complex", "Square root, elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(sqrt_grad_op, {call.output(0), std::move(dy)});
    },
    Saves::all_outputs());

const OpDef sqrt_grad_op = paired_record(
    "SqrtGrad(y: T, dy: T) -> (z: T); T: floating|complex", "dy / (2 y): the gradient of the square root y.",
    [](const OpCall& call, Tensor dz) {
      const Tensor ratio = std::move(dz) / call.input(0);
      return Gradients{negative(conj(ratio)) * call.output(0), 0.5 * ratio};
    },
    Saves::only({0}, {0}));

const OpDef rsqrt_op = unary_record(
    "Rsqrt(x: T) -> (y: T); T: floating|complex", "1 / sqrt(x), elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(rsqrt_grad_op, {call.output(0), std::move(dy)});
    },
    Saves::all_outputs());

const OpDef rsqrt_grad_op = paired_record(
    "RsqrtGrad(y: T, dy: T) -> (z: T); T: floating|complex",
    "-dy * y^3 / 2: the gradient of 1 / sqrt(x), from its output y.",
    [](const OpCall& call, Tensor dz) {
      const Tensor y = conj(call.input(0));
      return Gradients{-1.5 * conj(dz) * call.input(1) * square(y), apply(rsqrt_grad_op, {y, dz})};
    },
    Saves::all_inputs());

// ---- rounding and tests: constant between jumps ---------------------------------------------------------------------

namespace {

constexpr GradientFn kNoGradient = [](const OpCall&, Tensor) { return Gradient(); };

}  // namespace

const OpDef floor_op = unary_record("Floor(x: T) -> (y: T); T: floating", "The next whole number below, elementwise.",
                                    kNoGradient, Saves::nothing());
const OpDef ceil_op = unary_record("Ceil(x: T) -> (y: T); T: floating", "The next whole number above, elementwise.",
                                   kNoGradient, Saves::nothing());
const OpDef round_op =
    unary_record("Round(x: T) -> (y: T); T: floating|complex|signed",
                 "The nearest whole number, halves to even. Elementwise.", kNoGradient, Saves::nothing());
const OpDef rint_op =
    unary_record("Rint(x: T) -> (y: T); T: floating", "The nearest whole number, halves to even. Elementwise.",
                 kNoGradient, Saves::nothing());
const OpDef is_nan_op = unary_record("IsNan(x: T) -> (y: bool); T: floating", "Is it not a number? Elementwise.",
                                     not_differentiable, Saves::nothing());
const OpDef is_inf_op =
    unary_record("IsInf(x: T) -> (y: bool); T: floating", "Is it plus or minus infinity? Elementwise.",
                 not_differentiable, Saves::nothing());
const OpDef is_finite_op =
    unary_record("IsFinite(x: T) -> (y: bool); T: floating", "Is it neither infinite nor NaN? Elementwise.",
                 not_differentiable, Saves::nothing());

Tensor negative(Tensor x) { return apply(neg_op, {std::move(x)}); }
Tensor operator-(Tensor x) { return apply(neg_op, {std::move(x)}); }
Tensor abs(Tensor x) {
  if (!is_complex(x.dtype())) return apply(abs_op, {std::move(x)});
  const RealPartAttributes attributes{x.dtype() == DType::complex64 ? DType::float32 : DType::float64};
  return apply(complex_abs_op, {std::move(x)}, &attributes);
}
Tensor sign(Tensor x) { return apply(sign_op, {std::move(x)}); }
Tensor square(Tensor x) { return apply(square_op, {std::move(x)}); }
Tensor reciprocal(Tensor x) { return apply(reciprocal_op, {std::move(x)}); }
Tensor sqrt(Tensor x) { return apply(sqrt_op, {std::move(x)}); }
Tensor rsqrt(Tensor x) { return apply(rsqrt_op, {std::move(x)}); }
Tensor floor(Tensor x) { return apply(floor_op, {std::move(x)}); }
Tensor ceil(Tensor x) { return apply(ceil_op, {std::move(x)}); }
// Integers are whole already; the op has no kernel for the short ones.
Tensor round(Tensor x) { return is_integer(x.dtype()) ? identity(std::move(x)) : apply(round_op, {std::move(x)}); }
Tensor rint(Tensor x) { return apply(rint_op, {std::move(x)}); }
Tensor is_nan(Tensor x) { return apply(is_nan_op, {std::move(x)}); }
Tensor is_inf(Tensor x) { return apply(is_inf_op, {std::move(x)}); }
Tensor is_finite(Tensor x) { return apply(is_finite_op, {std::move(x)}); }

OpList math_unary_ops() {
  static constexpr const OpDef* list[] = {
      &neg_op,      &abs_op,  &sign_op,      &square_op, &reciprocal_op, &reciprocal_grad_op, &inv_op,
      &inv_grad_op, &sqrt_op, &sqrt_grad_op, &rsqrt_op,  &rsqrt_grad_op, &floor_op,           &ceil_op,
      &round_op,    &rint_op, &is_nan_op,    &is_inf_op, &is_finite_op};
  return list;
}

}  // namespace capstan
