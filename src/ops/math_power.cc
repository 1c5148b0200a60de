// Powers and products with logarithms of two arguments, and the angle of a point; elementwise, with broadcasting.
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/select.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// y x^(y-1). Where both are zero the product would be 0 * infinity; x^0 is constant, so it is 0 there.
Tensor power_by_base(const Tensor& x, const Tensor& y) { return y * pow(x, where(x == 0 && y == 0, 0, y - 1)); }

/// x^y log(x), or 0 where the logarithm is not a real number: at zero, and below.
Tensor power_by_exponent(const Tensor& x, const Tensor& power) {
  const Tensor has_log = is_complex(x.dtype()) ? x != 0 : x > 0;
  return power * where(has_log, log(where(has_log, x, 1)), 0);
}

/// 1 where x is not 0 or where the function beside x has a finite value there, else 0. TensorFlow has 0 at every x = 0,
/// though d/dx of x f(y) is f(y).
Tensor counts(const Tensor& x, const Tensor& is_finite_beside) { return cast(x != 0 || is_finite_beside, x.dtype()); }

/// Is log(y + offset) finite?
Tensor has_logarithm(const Tensor& y, double offset) {
  return is_complex(y.dtype()) ? y != Operand(-offset) : y > Operand(-offset);
}

Gradients both(const OpCall& call, Tensor dx, Tensor dy) {
  return {unbroadcast(call, 0, std::move(dx)), unbroadcast(call, 1, std::move(dy))};
}

}  // namespace

const OpDef pow_op = binary_record(
    "Pow(x: T, y: T) -> (z: T); T: floating|complex|signed", "x to the power y, elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor x = conj(call.input(0)), y = conj(call.input(1));
      Gradients gradients(2);
      if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, dz * power_by_base(x, y));
      if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, dz * power_by_exponent(x, conj(call.output(0))));
      return gradients;
    },
    Saves{~std::uint64_t{0}, ~std::uint64_t{0}});

const OpDef atan2_op = binary_record(
    "Atan2(y: T, x: T) -> (z: T); T: floating", "The angle of the point (x, y), in [-pi, pi]. Elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor &y = call.input(0), &x = call.input(1);
      const Tensor ratio = std::move(dz) / (square(y) + square(x));
      return both(call, x * ratio, negative(y) * ratio);
    },
    Saves::all_inputs());

const OpDef xlogy_op = binary_record(
    "Xlogy(x: T, y: T) -> (z: T); T: floating|complex", "x log(y), but 0 where x is 0. Elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor &x = call.input(0), &y = call.input(1);
      return both(call, dz * xlogy(counts(x, has_logarithm(y, 0)), y), dz * xdivy(x, y));
    },
    Saves::all_inputs());

const OpDef xdivy_op = binary_record(
    "Xdivy(x: T, y: T) -> (z: T); T: floating|complex", "x / y, but 0 where x is 0. Elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor &x = call.input(0), &y = call.input(1);
      return both(call, dz * xdivy(counts(x, y != 0), y), dz * xdivy(negative(x), square(y)));
    },
    Saves::all_inputs());

const OpDef xlog1py_op = binary_record(
    "Xlog1py(x: T, y: T) -> (z: T); T: floating|complex", "x log(1 + y), but 0 where x is 0. Elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor &x = call.input(0), &y = call.input(1);
      return both(call, dz * xlog1py(counts(x, has_logarithm(y, 1)), y), dz * xdivy(x, y + 1));
    },
    Saves::all_inputs());

Tensor pow(Operand x, Operand y) { return apply_binary(pow_op, x, y); }
Tensor atan2(Operand y, Operand x) { return apply_binary(atan2_op, y, x); }
Tensor xlogy(Operand x, Operand y) { return apply_binary(xlogy_op, x, y); }
Tensor xdivy(Operand x, Operand y) { return apply_binary(xdivy_op, x, y); }
Tensor xlog1py(Operand x, Operand y) { return apply_binary(xlog1py_op, x, y); }

OpList math_power_ops() {
  static constexpr const OpDef* list[] = {&pow_op, &atan2_op, &xlogy_op, &xdivy_op, &xlog1py_op};
  return list;
}

}  // namespace capstan
