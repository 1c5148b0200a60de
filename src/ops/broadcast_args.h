// Records of broadcasting two shapes that are values.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef broadcast_args_op, broadcast_gradient_args_op;

}  // namespace capstan
