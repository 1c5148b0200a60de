// Records of the elementwise families, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef add_v2_op, sub_op, mul_op, real_div_op, add_n_op;
extern const OpDef neg_op, square_op, exp_op, log_op, tanh_op, tanh_grad_op, conj_op, reciprocal_op;

}  // namespace capstan
