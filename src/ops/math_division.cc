// Divisions and their remainders; elementwise, with NumPy's broadcasting. Integers divided by zero are an error; the
// smallest integer divided by -1 wraps around to itself, its remainder is 0.
#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {
namespace {

Gradients quotient_gradient(const OpCall& call, const Tensor& dz) {
  Gradients gradients(2);
  const Tensor y = conj(call.input(1));
  if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, dz / y);
  if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, dz * ((-conj(call.input(0)) / y) / y));
  return gradients;
}

constexpr GradientFn kNoGradients = [](const OpCall&, Tensor) { return Gradients(2); };

}  // namespace

const OpDef real_div_op = binary_record(
    "RealDiv(x: T, y: T) -> (z: T); T: number", "x / y of floating or complex numbers, elementwise.",
    [](const OpCall& call, Tensor dz) { return quotient_gradient(call, dz); }, Saves::all_inputs());

const OpDef div_op = binary_record(
    "Div(x: T, y: T) -> (z: T); T: number", "x / y, elementwise; integers are rounded towards zero.",
    [](const OpCall& call, Tensor dz) { return quotient_gradient(call, dz); }, Saves::all_inputs());

const OpDef div_no_nan_op = binary_record(
    "DivNoNan(x: T, y: T) -> (z: T); T: floating|complex", "x / y, but 0 where y is 0.",
    [](const OpCall& call, Tensor dz) {
      Gradients gradients(2);
      const Tensor y = conj(call.input(1));
      if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, divide_no_nan(dz, y));
      if (call.needs_gradient(1))
        gradients[1] = unbroadcast(call, 1, dz * divide_no_nan(divide_no_nan(-conj(call.input(0)), y), y));
      return gradients;
    },
    Saves::all_inputs());

const OpDef floor_div_op = binary_record("FloorDiv(x: T, y: T) -> (z: T); T: number",
                                         "x / y rounded down, elementwise.", kNoGradients, Saves::nothing());

const OpDef truncate_div_op = binary_record("TruncateDiv(x: T, y: T) -> (z: T); T: number",
                                            "x / y rounded towards zero, elementwise.", kNoGradients, Saves::nothing());

const OpDef floor_mod_op = binary_record(
    "FloorMod(x: T, y: T) -> (z: T); T: real", "What x / y rounded down leaves, with the sign of y. Elementwise.",
    [](const OpCall& call, Tensor dz) {
      Gradients gradients(2);
      if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, dz);
      if (call.needs_gradient(1))
        gradients[1] = unbroadcast(call, 1, dz * negative(floordiv(call.input(0), call.input(1))));
      return gradients;
    },
    Saves::all_inputs());

const OpDef truncate_mod_op =
    binary_record("TruncateMod(x: T, y: T) -> (z: T); T: floating|{int32, int64}",
                  "What x / y rounded towards zero leaves, with the sign of x. Elementwise.", {}, Saves::nothing());

const OpDef mod_op =
    binary_record("Mod(x: T, y: T) -> (z: T); T: floating|{int32, int64}",
                  "What x / y rounded towards zero leaves: the old name of TruncateMod.", {}, Saves::nothing());

Tensor divide(Operand x, Operand y) { return apply_binary(real_div_op, x, y); }
Tensor divide_no_nan(Operand x, Operand y) { return apply_binary(div_no_nan_op, x, y); }
Tensor floordiv(Operand x, Operand y) { return apply_binary(floor_div_op, x, y); }
Tensor floormod(Operand x, Operand y) { return apply_binary(floor_mod_op, x, y); }
Tensor truncatediv(Operand x, Operand y) { return apply_binary(truncate_div_op, x, y); }
Tensor truncatemod(Operand x, Operand y) { return apply_binary(truncate_mod_op, x, y); }
Tensor operator/(Operand x, Operand y) { return apply_binary(real_div_op, x, y); }
Tensor operator%(Operand x, Operand y) { return apply_binary(floor_mod_op, x, y); }
Tensor& operator/=(Tensor& x, Operand y) {
  return update(x, y, [](Operand& left, Operand& right) { return apply_binary(real_div_op, left, right); });
}

OpList math_division_ops() {
  static constexpr const OpDef* list[] = {&real_div_op,     &div_op,       &div_no_nan_op,   &floor_div_op,
                                          &truncate_div_op, &floor_mod_op, &truncate_mod_op, &mod_op};
  return list;
}

}  // namespace capstan
