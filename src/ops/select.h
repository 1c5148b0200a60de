// Records of choosing and bounding, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef select_op, select_v2_op, clip_by_value_op;

}  // namespace capstan
