// Records of the ops that change the order along dimensions.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef reverse_v2_op, roll_op;

}  // namespace capstan
