// Records and attributes of the array family.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct ShapeAttributes {
  DType out_type = DType::int32;
  template <class Field>
  static void fields(Field&& field) {
    field("out_type", &ShapeAttributes::out_type);
  }
};

extern const OpDef reshape_op, broadcast_to_op, fill_op, zeros_like_op, ones_like_op, identity_op, stop_gradient_op,
    shape_op;

}  // namespace capstan
