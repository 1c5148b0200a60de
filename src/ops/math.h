// Records of the elementwise families, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

// math_unary.cc
extern const OpDef neg_op, abs_op, sign_op, square_op, reciprocal_op, inv_op, sqrt_op, rsqrt_op;
extern const OpDef reciprocal_grad_op, inv_grad_op, sqrt_grad_op, rsqrt_grad_op;
extern const OpDef floor_op, ceil_op, round_op, rint_op, is_nan_op, is_inf_op, is_finite_op;
// math_exponential.cc
extern const OpDef exp_op, expm1_op, log_op, log1p_op, tanh_op, sigmoid_op, tanh_grad_op, sigmoid_grad_op;
extern const OpDef erf_op, erfc_op;
// math_trigonometric.cc
extern const OpDef sin_op, cos_op, tan_op, asin_op, acos_op, atan_op, sinh_op, cosh_op, asinh_op, acosh_op, atanh_op;
// math_complex.cc
extern const OpDef conj_op, real_op, imag_op, complex_op, complex_abs_op, angle_op;
// math_binary.cc
extern const OpDef add_op, add_v2_op, sub_op, mul_op, mul_no_nan_op, maximum_op, minimum_op, squared_difference_op,
    add_n_op;
// math_division.cc
extern const OpDef real_div_op, div_op, div_no_nan_op, floor_div_op, truncate_div_op, floor_mod_op, truncate_mod_op,
    mod_op;
// math_power.cc
extern const OpDef pow_op, atan2_op, xlogy_op, xdivy_op, xlog1py_op;

/// The attribute of ops that take complex numbers apart or put them together: the type on the other side.
struct RealPartAttributes {
  DType Tout = DType::float32;
  template <class Field>
  static void fields(Field&& field) {
    field("Tout", &RealPartAttributes::Tout);
  }
};
struct ComplexAttributes {
  DType Tout = DType::complex64;
  template <class Field>
  static void fields(Field&& field) {
    field("Tout", &ComplexAttributes::Tout);
  }
};

}  // namespace capstan
