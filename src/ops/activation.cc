// Activation functions and their gradients, which are ops of their own: (gradients, features or outputs).
#include "capstan/ops/activation.h"

#include <numbers>

#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/select.h"
#include "ops/activation.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// The gradient of a gradient op that is linear in its first argument and piecewise constant in the second.
Gradients linear_gradient(const OpCall& call, const Tensor& dz) {
  return {apply(call.op(), {dz, call.input(1)}, call.raw_attributes()), zeros_like(call.input(1))};
}

/// The same for elu and selu, whose gradient below zero grows with the output.
Gradients bent_gradient(const OpCall& call, const Tensor& dz) {
  const Tensor& y = call.input(1);
  return {apply(call.op(), {dz, y}), where(y < 0, dz * call.input(0), zeros_like(y))};
}

}  // namespace

const OpDef relu_op = unary_record(
    "Relu(features: T) -> (activations: T); T: real", "max(x, 0), elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(relu_grad_op, {std::move(dy), call.output(0)});
    },
    Saves::all_outputs());

const OpDef relu_grad_op = paired_record(
    "ReluGrad(gradients: T, features: T) -> (backprops: T); T: real", "The gradient of relu: dy where x > 0, else 0.",
    [](const OpCall& call, Tensor dz) { return linear_gradient(call, dz); }, Saves::only({1}));

const OpDef relu6_op = unary_record(
    "Relu6(features: T) -> (activations: T); T: real", "x bounded by 0 and 6, elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(relu6_grad_op, {std::move(dy), call.output(0)});
    },
    Saves::all_outputs());

const OpDef relu6_grad_op = paired_record(
    "Relu6Grad(gradients: T, features: T) -> (backprops: T); T: real",
    "The gradient of relu6: dy where 0 < x < 6, else 0.",
    [](const OpCall& call, Tensor dz) { return linear_gradient(call, dz); }, Saves::only({1}));

const OpDef elu_op = unary_record(
    "Elu(features: T) -> (activations: T); T: floating", "x where positive, else e^x - 1. Elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(elu_grad_op, {std::move(dy), call.output(0)});
    },
    Saves::all_outputs());

const OpDef elu_grad_op = paired_record(
    "EluGrad(gradients: T, outputs: T) -> (backprops: T); T: floating", "The gradient of elu, from its output.",
    [](const OpCall& call, Tensor dz) { return bent_gradient(call, dz); }, Saves::all_inputs());

const OpDef selu_op = unary_record(
    "Selu(features: T) -> (activations: T); T: floating",
    "1.0507 x where positive, else 1.7581 (e^x - 1). Elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(selu_grad_op, {std::move(dy), call.output(0)});
    },
    Saves::all_outputs());

const OpDef selu_grad_op = paired_record(
    "SeluGrad(gradients: T, outputs: T) -> (backprops: T); T: floating", "The gradient of selu, from its output.",
    [](const OpCall& call, Tensor dz) { return bent_gradient(call, dz); }, Saves::all_inputs());

namespace {

constexpr OpDef with_alpha(OpDef record) {
  record.attributes = attributes<LeakyReluAttributes>;
  return record;
}

}  // namespace

const OpDef leaky_relu_op = with_alpha(unary_record(
    "LeakyRelu(features: T) -> (activations: T); T: floating", "x where positive, else alpha x. Elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(leaky_relu_grad_op, {std::move(dy), call.input(0)}, call.raw_attributes());
    },
    Saves::all_inputs()));

const OpDef leaky_relu_grad_op = with_alpha(paired_record(
    "LeakyReluGrad(gradients: T, features: T) -> (backprops: T); T: floating",
    "The gradient of leaky relu: dy where x > 0, else alpha dy.",
    [](const OpCall& call, Tensor dz) { return linear_gradient(call, dz); }, Saves::only({1})));

const OpDef softplus_op = unary_record(
    "Softplus(features: T) -> (activations: T); T: floating", "log(1 + e^x), elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * sigmoid(call.input(0)); }, Saves::all_inputs());

const OpDef softplus_grad_op = paired_record(
    "SoftplusGrad(gradients: T, features: T) -> (backprops: T); T: floating",
    "The gradient of softplus: dy / (1 + e^-x).",
    [](const OpCall& call, Tensor dz) {
      const Tensor& x = call.input(1);
      return Gradients{apply(softplus_grad_op, {dz, x}), dz * call.input(0) / (exp(negative(x)) + 2 + exp(x))};
    },
    Saves::all_inputs());

const OpDef softsign_op = unary_record(
    "Softsign(features: T) -> (activations: T); T: floating", "x / (1 + |x|), elementwise.",
    [](const OpCall& call, Tensor dy) {
      return apply(softsign_grad_op, {std::move(dy), call.input(0)});
    },
    Saves::all_inputs());

const OpDef softsign_grad_op = paired_record(
    "SoftsignGrad(gradients: T, features: T) -> (backprops: T); T: floating",
    "The gradient of softsign: dy / (1 + |x|)^2.",
    [](const OpCall& call, Tensor dz) {
      const Tensor& x = call.input(1);
      const Tensor first = apply(softsign_grad_op, {std::move(dz), x});
      return Gradients{first, first * call.input(0) * (-2 * sign(x)) / (1 + abs(x))};
    },
    Saves::all_inputs());

Tensor relu(Tensor x) { return apply(relu_op, {std::move(x)}); }
Tensor relu6(Tensor x) { return apply(relu6_op, {std::move(x)}); }
Tensor elu(Tensor x) { return apply(elu_op, {std::move(x)}); }
Tensor selu(Tensor x) { return apply(selu_op, {std::move(x)}); }
Tensor leaky_relu(Tensor x, const LeakyReluOptions& options) {
  const LeakyReluAttributes attributes{options.alpha};
  return apply(leaky_relu_op, {std::move(x)}, &attributes);
}
Tensor softplus(Tensor x) { return apply(softplus_op, {std::move(x)}); }
Tensor softsign(Tensor x) { return apply(softsign_op, {std::move(x)}); }

namespace {

Tensor silu_of(const Tensor& x, Operand& beta) {
  beta.match(x);
  return x * sigmoid(beta.tensor() * x);
}

}  // namespace

Tensor silu(Tensor x, Operand beta) { return silu_of(x, beta); }
Tensor swish(Tensor x, Operand beta) { return silu_of(x, beta); }

Tensor gelu(Tensor x, const GeluOptions& options) {
  if (!options.approximate) return 0.5 * x * (1 + erf(x * (1 / std::numbers::sqrt2)));
  constexpr double kRootTwoOverPi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return 0.5 * x * (1 + tanh(kRootTwoOverPi * (x + 0.044715 * (x * square(x)))));
}

OpList activation_ops() {
  static constexpr const OpDef* list[] = {&relu_op,       &relu_grad_op,       &relu6_op,    &relu6_grad_op,
                                          &elu_op,        &elu_grad_op,        &selu_op,     &selu_grad_op,
                                          &leaky_relu_op, &leaky_relu_grad_op, &softplus_op, &softplus_grad_op,
                                          &softsign_op,   &softsign_grad_op};
  return list;
}

}  // namespace capstan
