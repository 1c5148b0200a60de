// Records of the gamma function's relatives, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef lgamma_op, digamma_op, polygamma_op, zeta_op;

}  // namespace capstan
