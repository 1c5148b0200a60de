// Complex numbers: conjugates, parts, magnitude and angle, and making them of two real tensors.
#include <numbers>

#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/select.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {
namespace {

DType part_type(DType complex_type) { return complex_type == DType::complex64 ? DType::float32 : DType::float64; }
DType complex_type(DType part) { return part == DType::float32 ? DType::complex64 : DType::complex128; }

void check_output_type(InferContext& context, DType expected) {
  if (context.output_dtype(0) != expected)
    context.fail_type("attribute 'Tout' must be " + std::string(dtype_name(expected)) + " for an argument of type " +
                      std::string(dtype_name(context.input_dtype(0))) + ", got " +
                      std::string(dtype_name(context.output_dtype(0))));
}

void part_shape(InferContext& context) {
  check_output_type(context, part_type(context.input_dtype(0)));
  shape::unchanged(context);
}

void complex_shape(InferContext& context) {
  check_output_type(context, complex_type(context.input_dtype(0)));
  shape::broadcast(context);
}

Tensor apply_part(const OpDef& op, Tensor x) {
  const RealPartAttributes attributes{part_type(x.dtype())};
  return apply(op, {std::move(x)}, &attributes);
}

/// A real tensor as complex numbers.
Tensor lifted(const Tensor& x) { return complex(x, zeros_like(x)); }

constexpr OpDef part_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves) {
  OpDef record = unary_record(signature, summary, gradient, saves);
  record.shape = part_shape;
  record.attributes = attributes<RealPartAttributes>;
  return record;
}

}  // namespace

const OpDef conj_op = unary_record(
    "Conj(input: T) -> (output: T); T: complex", "Complex conjugate, elementwise.",
    [](const OpCall&, Tensor dy) { return conj(std::move(dy)); }, Saves::nothing());

const OpDef real_op = part_record(
    "Real(input: T) -> (output: Tout); T: complex; Tout: {float, double}", "Real part, elementwise.",
    [](const OpCall&, Tensor dy) { return lifted(dy); }, Saves::nothing());

const OpDef imag_op = part_record(
    "Imag(input: T) -> (output: Tout); T: complex; Tout: {float, double}", "Imaginary part, elementwise.",
    [](const OpCall&, Tensor dy) { return complex(zeros_like(dy), dy); }, Saves::nothing());

const OpDef complex_abs_op = part_record(
    "ComplexAbs(x: T) -> (y: Tout); T: complex; Tout: {float, double}", "Magnitude of complex numbers, elementwise.",
    [](const OpCall& call, Tensor dy) { return divide_no_nan(lifted(dy) * call.input(0), lifted(call.output(0))); },
    Saves{~std::uint64_t{0}, ~std::uint64_t{0}});

const OpDef angle_op = part_record(
    "Angle(input: T) -> (output: Tout); T: complex; Tout: {float, double}",
    "Angle of complex numbers in the plane, in (-pi, pi]. Elementwise.",
    [](const OpCall& call, Tensor dy) {
      const Tensor& x = call.input(0);
      return negative(lifted(dy)) * reciprocal(complex(imag(x), real(x)));
    },
    Saves::all_inputs());

const OpDef complex_op = {
    .signature = "Complex(real: T, imag: T) -> (out: Tout); T: {float, double}; Tout: complex",
    .summary = "Complex numbers of their real and imaginary parts, elementwise.",
    .shape = complex_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return Gradients{unbroadcast(call, 0, real(dy)), unbroadcast(call, 1, imag(dy))};
        },
    .batching = batching::elementwise,
    .attributes = attributes<ComplexAttributes>,
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

Tensor conj(Tensor x) { return is_complex(x.dtype()) ? apply(conj_op, {std::move(x)}) : x; }
Tensor real(Tensor x) { return is_complex(x.dtype()) ? apply_part(real_op, std::move(x)) : x; }
Tensor imag(Tensor x) { return is_complex(x.dtype()) ? apply_part(imag_op, std::move(x)) : zeros_like(std::move(x)); }
Tensor angle(Tensor x) {
  if (is_complex(x.dtype())) return apply_part(angle_op, std::move(x));
  return where(x < 0, constant_as(constant(std::numbers::pi), x.dtype()), zeros_like(x));
}
Tensor complex(Operand real, Operand imag) {
  if (real.is_number())
    real.match(imag);
  else if (imag.is_number())
    imag.match(real);
  const ComplexAttributes attributes{complex_type(real.tensor().dtype())};
  return apply(complex_op, {real.input(), imag.input()}, &attributes);
}

OpList math_complex_ops() {
  static constexpr const OpDef* list[] = {&conj_op, &real_op, &imag_op, &complex_op, &complex_abs_op, &angle_op};
  return list;
}

}  // namespace capstan
