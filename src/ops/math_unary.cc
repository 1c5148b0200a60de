// Elementwise operations of one argument, and the gradients of those whose gradient is an op of its own.
#include "capstan/base/error.h"
#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {

const OpDef neg_op{
    .signature = "Neg(x: T) -> (y: T); T: floating|complex|signed",
    .summary = "-x, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall&, Tensor dy) { return negative(dy); },
    .batching = batching::elementwise,
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

const OpDef square_op{
    .signature = "Square(x: T) -> (y: T); T: number",
    .summary = "x * x, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall& call, Tensor dy) { return dy * (2 * conj(call.input(0))); },
    .batching = batching::elementwise,
    .saves = Saves::all_inputs(),
    .facts = {.elementwise = true},
};

const OpDef exp_op{
    .signature = "Exp(x: T) -> (y: T); T: floating|complex",
    .summary = "e to the power x, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall& call, Tensor dy) { return dy * conj(call.output(0)); },
    .batching = batching::elementwise,
    .saves = Saves::all_outputs(),
    .facts = {.elementwise = true},
};

const OpDef log_op{
    .signature = "Log(x: T) -> (y: T); T: floating|complex",
    .summary = "Natural logarithm, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall& call, Tensor dy) { return dy / conj(call.input(0)); },
    .batching = batching::elementwise,
    .saves = Saves::all_inputs(),
    .facts = {.elementwise = true},
};

const OpDef tanh_op{
    .signature = "Tanh(x: T) -> (y: T); T: floating|complex",
    .summary = "Hyperbolic tangent, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall& call, Tensor dy) { return apply(tanh_grad_op, {conj(call.output(0)), dy}); },
    .batching = batching::elementwise,
    .saves = Saves::all_outputs(),
    .facts = {.elementwise = true},
};

const OpDef tanh_grad_op{
    .signature = "TanhGrad(y: T, dy: T) -> (z: T); T: floating|complex",
    .summary = "dy * (1 - y * y): the gradient of tanh, from its output y.",
    .shape = shape::all_same,
    .gradient =
        [](const OpCall& call, Tensor dz) {
          const Tensor y = conj(call.input(0)), dy = conj(call.input(1));
          return Gradients{dz * (-2 * dy) * y, apply(tanh_grad_op, {y, dz})};
        },
    .batching = batching::same_shape,
    .saves = Saves::all_inputs(),
    .facts = {.elementwise = true},
};

const OpDef conj_op{
    .signature = "Conj(input: T) -> (output: T); T: complex",
    .summary = "Complex conjugate, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall&, Tensor dy) { return conj(dy); },
    .batching = batching::elementwise,
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

Tensor negative(Tensor x) { return apply(neg_op, {std::move(x)}); }
Tensor operator-(Tensor x) { return apply(neg_op, {std::move(x)}); }
Tensor square(Tensor x) { return apply(square_op, {std::move(x)}); }
Tensor exp(Tensor x) { return apply(exp_op, {std::move(x)}); }
Tensor log(Tensor x) { return apply(log_op, {std::move(x)}); }
Tensor tanh(Tensor x) { return apply(tanh_op, {std::move(x)}); }
Tensor conj(Tensor x) { return is_complex(x.dtype()) ? apply(conj_op, {std::move(x)}) : x; }

OpList math_unary_ops() {
  static constexpr const OpDef* list[] = {&neg_op, &square_op, &exp_op, &log_op, &tanh_op, &tanh_grad_op, &conj_op};
  return list;
}

}  // namespace capstan
