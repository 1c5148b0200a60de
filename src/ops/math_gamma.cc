// The gamma function's logarithm and its derivatives; elementwise.
#include "ops/math_gamma.h"

#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// The derivative of digamma. `polygamma` has no half types.
Tensor trigamma(const Tensor& x) {
  const bool is_half = x.dtype() == DType::float16 || x.dtype() == DType::bfloat16;
  return is_half ? cast(polygamma(1, cast(x, DType::float32)), x.dtype()) : polygamma(1, x);
}

}  // namespace

const OpDef lgamma_op = unary_record(
    "Lgamma(x: T) -> (y: T); T: floating", "Logarithm of the gamma function's magnitude, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * digamma(call.input(0)); }, Saves::all_inputs());

const OpDef digamma_op = unary_record(
    "Digamma(x: T) -> (y: T); T: floating", "Derivative of lgamma, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * trigamma(call.input(0)); }, Saves::all_inputs());

// No formula is known for the derivatives by the order: none flows there.
const OpDef polygamma_op = binary_record(
    "Polygamma(a: T, x: T) -> (z: T); T: {float, double}", "Derivative of order a of digamma, elementwise.",
    [](const OpCall& call, Tensor dz) {
      return Gradients{Gradient(), unbroadcast(call, 1, std::move(dz) * polygamma(call.input(0) + 1, call.input(1)))};
    },
    Saves::all_inputs());

const OpDef zeta_op = binary_record(
    "Zeta(x: T, q: T) -> (z: T); T: {float, double}",
    "Hurwitz' zeta function: the sum of (q + k)^-x over k = 0, 1, ... Elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor &x = call.input(0), &q = call.input(1);
      return Gradients{Gradient(), unbroadcast(call, 1, std::move(dz) * negative(x) * zeta(x + 1, q))};
    },
    Saves::all_inputs());

Tensor lgamma(Tensor x) { return apply(lgamma_op, {std::move(x)}); }
Tensor digamma(Tensor x) { return apply(digamma_op, {std::move(x)}); }
Tensor polygamma(Operand a, Operand x) { return apply_binary(polygamma_op, a, x); }
Tensor zeta(Operand x, Operand q) { return apply_binary(zeta_op, x, q); }

OpList math_gamma_ops() {
  static constexpr const OpDef* list[] = {&lgamma_op, &digamma_op, &polygamma_op, &zeta_op};
  return list;
}

}  // namespace capstan
