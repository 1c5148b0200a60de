// Exponentials, logarithms and what is made of them; elementwise, of one argument.
#include <numbers>

#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {

const OpDef exp_op = unary_record(
    "Exp(x: T) -> (y: T); T: floating|complex", "e to the power x, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * conj(call.output(0)); }, Saves::all_outputs());

const OpDef expm1_op = unary_record(
    "Expm1(x: T) -> (y: T); T: floating|complex", "e^x - 1 without loss of digits near 0, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * exp(conj(call.input(0))); }, Saves::all_inputs());

const OpDef log_op = unary_record(
    "Log(x: T) -> (y: T); T: floating|complex", "Natural logarithm, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) / conj(call.input(0)); }, Saves::all_inputs());

const OpDef log1p_op = unary_record(
    "Log1p(x: T) -> (y: T); T: floating|complex", "log(1 + x) without loss of digits near 0, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) / (1 + conj(call.input(0))); }, Saves::all_inputs());

const OpDef tanh_op = unary_record(
    "Tanh(x: T) -> (y: T); T: floating|complex", "Hyperbolic tangent, elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(tanh_grad_op, {conj(call.output(0)), std::move(dy)});
    },
    Saves::all_outputs());

const OpDef tanh_grad_op = paired_record(
    "TanhGrad(y: T, dy: T) -> (z: T); T: floating|complex",
    "dy * (1 - y * y): the gradient of tanh, from its output y.",
    [](const OpCall& call, Tensor dz) {
      const Tensor y = conj(call.input(0)), dy = conj(call.input(1));
      return Gradients{dz * (-2 * dy) * y, apply(tanh_grad_op, {y, dz})};
    },
    Saves::all_inputs());

const OpDef sigmoid_op = unary_record(
    "Sigmoid(x: T) -> (y: T); T: floating|complex", "1 / (1 + e^-x), elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(sigmoid_grad_op, {conj(call.output(0)), std::move(dy)});
    },
    Saves::all_outputs());

const OpDef sigmoid_grad_op = paired_record(
    "SigmoidGrad(y: T, dy: T) -> (z: T); T: floating|complex",
    "dy * y * (1 - y): the gradient of the sigmoid, from its output y.",
    [](const OpCall& call, Tensor dz) {
      const Tensor y = conj(call.input(0));
      const Tensor product = dz * conj(call.input(1));
      return Gradients{product - 2 * product * y, apply(sigmoid_grad_op, {y, dz})};
    },
    Saves::all_inputs());

namespace {

/// dy * factor * e^(-x^2).
Tensor bell(const OpCall& call, const Tensor& dy, double factor) {
  return dy * factor * exp(negative(square(call.input(0))));
}

}  // namespace

const OpDef erf_op = unary_record(
    "Erf(x: T) -> (y: T); T: floating", "The error function, elementwise.",
    [](const OpCall& call, Tensor dy) { return bell(call, dy, 2 * std::numbers::inv_sqrtpi); }, Saves::all_inputs());

const OpDef erfc_op = unary_record(
    "Erfc(x: T) -> (y: T); T: floating", "1 - erf(x) without loss of digits for large x, elementwise.",
    [](const OpCall& call, Tensor dy) { return bell(call, dy, -2 * std::numbers::inv_sqrtpi); }, Saves::all_inputs());

Tensor exp(Tensor x) { return apply(exp_op, {std::move(x)}); }
Tensor expm1(Tensor x) { return apply(expm1_op, {std::move(x)}); }
Tensor log(Tensor x) { return apply(log_op, {std::move(x)}); }
Tensor log1p(Tensor x) { return apply(log1p_op, {std::move(x)}); }
Tensor tanh(Tensor x) { return apply(tanh_op, {std::move(x)}); }
Tensor sigmoid(Tensor x) { return apply(sigmoid_op, {std::move(x)}); }
Tensor erf(Tensor x) { return apply(erf_op, {std::move(x)}); }
Tensor erfc(Tensor x) { return apply(erfc_op, {std::move(x)}); }

OpList math_exponential_ops() {
  static constexpr const OpDef* list[] = {&exp_op,       &expm1_op,   &log_op,          &log1p_op, &tanh_op,
                                          &tanh_grad_op, &sigmoid_op, &sigmoid_grad_op, &erf_op,   &erfc_op};
  return list;
}

}  // namespace capstan
