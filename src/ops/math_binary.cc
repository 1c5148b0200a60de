// Elementwise operations of two arguments, with NumPy's broadcasting.
#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {

const OpDef add_v2_op{
    .signature = "AddV2(x: T, y: T) -> (z: T); T: number",
    .summary = "x + y, elementwise.",
    .shape = shape::broadcast,
    .gradient = [](const OpCall& call, Tensor dz) { return Gradients{unbroadcast(call, 0, dz), unbroadcast(call, 1, dz)}; },
    .batching = batching::elementwise,
    .saves = Saves::nothing(),
    .facts = {.elementwise = true, .commutative = true},
};

const OpDef sub_op{
    .signature = "Sub(x: T, y: T) -> (z: T); T: number",
    .summary = "x - y, elementwise.",
    .shape = shape::broadcast,
    .gradient =
        [](const OpCall& call, Tensor dz) {
          return Gradients{unbroadcast(call, 0, dz),
                           call.needs_gradient(1) ? Gradient(unbroadcast(call, 1, negative(dz))) : Gradient()};
        },
    .batching = batching::elementwise,
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

const OpDef mul_op{
    .signature = "Mul(x: T, y: T) -> (z: T); T: number",
    .summary = "x * y, elementwise.",
    .shape = shape::broadcast,
    .gradient =
        [](const OpCall& call, Tensor dz) {
          Gradients gradients(2);
          if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, dz * conj(call.input(1)));
          if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, dz * conj(call.input(0)));
          return gradients;
        },
    .batching = batching::elementwise,
    .saves = Saves::all_inputs(),
    .facts = {.elementwise = true, .commutative = true},
};

const OpDef real_div_op{
    .signature = "RealDiv(x: T, y: T) -> (z: T); T: number",
    .summary = "x / y, elementwise.",
    .shape = shape::broadcast,
    .gradient =
        [](const OpCall& call, Tensor dz) {
          Gradients gradients(2);
          const Tensor x = conj(call.input(0)), y = conj(call.input(1));
          if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, dz / y);
          if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, dz * ((-x / y) / y));
          return gradients;
        },
    .batching = batching::elementwise,
    .saves = Saves::all_inputs(),
    .facts = {.elementwise = true},
};

Tensor add(Operand x, Operand y) { return apply_binary(add_v2_op, x, y); }
Tensor subtract(Operand x, Operand y) { return apply_binary(sub_op, x, y); }
Tensor multiply(Operand x, Operand y) { return apply_binary(mul_op, x, y); }
Tensor divide(Operand x, Operand y) { return apply_binary(real_div_op, x, y); }

Tensor operator+(Operand x, Operand y) { return apply_binary(add_v2_op, x, y); }
Tensor operator-(Operand x, Operand y) { return apply_binary(sub_op, x, y); }
Tensor operator*(Operand x, Operand y) { return apply_binary(mul_op, x, y); }
Tensor operator/(Operand x, Operand y) { return apply_binary(real_div_op, x, y); }
Tensor& operator+=(Tensor& x, Operand y) { return x = apply(add_v2_op, {std::move(x), y.input()}); }
Tensor& operator-=(Tensor& x, Operand y) { return x = apply(sub_op, {std::move(x), y.input()}); }
Tensor& operator*=(Tensor& x, Operand y) { return x = apply(mul_op, {std::move(x), y.input()}); }
Tensor& operator/=(Tensor& x, Operand y) { return x = apply(real_div_op, {std::move(x), y.input()}); }

OpList math_binary_ops() {
  static constexpr const OpDef* list[] = {&add_v2_op, &sub_op, &mul_op, &real_div_op};
  return list;
}

}  // namespace capstan
