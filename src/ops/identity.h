// Records and attributes of constants, of passing values through, and of keeping a part of each matrix.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct ConstAttributes {
  Tensor value;
  DType dtype = DType::float32;
  template <class Field>
  static void fields(Field&& field) {
    field("value", &ConstAttributes::value);
    field("dtype", &ConstAttributes::dtype);
  }
};

struct PreventGradientAttributes {
  std::string message;
  template <class Field>
  static void fields(Field&& field) {
    field("message", &PreventGradientAttributes::message);
  }
};

extern const OpDef const_op, identity_n_op, prevent_gradient_op, matrix_band_part_op;

}  // namespace capstan
