// Trigonometric and hyperbolic functions and their inverses; elementwise, of one argument.
#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {

const OpDef sin_op = unary_record(
    "Sin(x: T) -> (y: T); T: floating|complex", "Sine, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * cos(conj(call.input(0))); }, Saves::all_inputs());

const OpDef cos_op = unary_record(
    "Cos(x: T) -> (y: T); T: floating|complex", "Cosine, elementwise.",
    [](const OpCall& call, Tensor dy) { return negative(std::move(dy)) * sin(conj(call.input(0))); },
    Saves::all_inputs());

const OpDef tan_op = unary_record(
    "Tan(x: T) -> (y: T); T: floating|complex", "Tangent, elementwise.",
    [](const OpCall& call, Tensor dy) { return square(reciprocal(cos(conj(call.input(0))))) * std::move(dy); },
    Saves::all_inputs());

const OpDef asin_op = unary_record(
    "Asin(x: T) -> (y: T); T: floating|complex", "Inverse of the sine, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * reciprocal(sqrt(1 - square(conj(call.input(0))))); },
    Saves::all_inputs());

const OpDef acos_op = unary_record(
    "Acos(x: T) -> (y: T); T: floating|complex", "Inverse of the cosine, elementwise.",
    [](const OpCall& call, Tensor dy) {
      return negative(std::move(dy)) * reciprocal(sqrt(1 - square(conj(call.input(0)))));
    },
    Saves::all_inputs());

const OpDef atan_op = unary_record(
    "Atan(x: T) -> (y: T); T: floating|complex", "Inverse of the tangent, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * reciprocal(1 + square(conj(call.input(0)))); },
    Saves::all_inputs());

const OpDef sinh_op = unary_record(
    "Sinh(x: T) -> (y: T); T: floating|complex", "Hyperbolic sine, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * cosh(conj(call.input(0))); }, Saves::all_inputs());

const OpDef cosh_op = unary_record(
    "Cosh(x: T) -> (y: T); T: floating|complex", "Hyperbolic cosine, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * sinh(conj(call.input(0))); }, Saves::all_inputs());

const OpDef asinh_op = unary_record(
    "Asinh(x: T) -> (y: T); T: floating|complex", "Inverse of the hyperbolic sine, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) / cosh(conj(call.output(0))); }, Saves::all_outputs());

const OpDef acosh_op = unary_record(
    "Acosh(x: T) -> (y: T); T: floating|complex", "Inverse of the hyperbolic cosine, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) / sinh(conj(call.output(0))); }, Saves::all_outputs());

const OpDef atanh_op = unary_record(
    "Atanh(x: T) -> (y: T); T: floating|complex", "Inverse of the hyperbolic tangent, elementwise.",
    [](const OpCall& call, Tensor dy) { return std::move(dy) * reciprocal(1 - square(conj(call.input(0)))); },
    Saves::all_inputs());

Tensor sin(Tensor x) { return apply(sin_op, {std::move(x)}); }
Tensor cos(Tensor x) { return apply(cos_op, {std::move(x)}); }
Tensor tan(Tensor x) { return apply(tan_op, {std::move(x)}); }
Tensor asin(Tensor x) { return apply(asin_op, {std::move(x)}); }
Tensor acos(Tensor x) { return apply(acos_op, {std::move(x)}); }
Tensor atan(Tensor x) { return apply(atan_op, {std::move(x)}); }
Tensor sinh(Tensor x) { return apply(sinh_op, {std::move(x)}); }
Tensor cosh(Tensor x) { return apply(cosh_op, {std::move(x)}); }
Tensor asinh(Tensor x) { return apply(asinh_op, {std::move(x)}); }
Tensor acosh(Tensor x) { return apply(acosh_op, {std::move(x)}); }
Tensor atanh(Tensor x) { return apply(atanh_op, {std::move(x)}); }

OpList math_trigonometric_ops() {
  static constexpr const OpDef* list[] = {&sin_op,  &cos_op,  &tan_op,   &asin_op,  &acos_op, &atan_op,
                                          &sinh_op, &cosh_op, &asinh_op, &acosh_op, &atanh_op};
  return list;
}

}  // namespace capstan
