// Records of nodes that graphs need and eager code does not: values that are fed, and nothing at all.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct PlaceholderAttributes {
  DType dtype = DType::float32;
  Shape shape = Shape::unknown();
  template <class Field>
  static void fields(Field&& field) {
    field("dtype", &PlaceholderAttributes::dtype);
    field("shape", &PlaceholderAttributes::shape);
  }
};

extern const OpDef placeholder_op, placeholder_with_default_op, no_op_op;

}  // namespace capstan
