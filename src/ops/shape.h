// Records and attributes of the ops about shapes: asking for them, and changing them without moving elements.
#pragma once

#include "capstan/op/op.h"
#include "ops/array.h"

namespace capstan {

struct SqueezeAttributes {
  std::vector<std::int64_t> squeeze_dims;
  template <class Field>
  static void fields(Field&& field) {
    field("squeeze_dims", &SqueezeAttributes::squeeze_dims);
  }
};

struct EnsureShapeAttributes {
  Shape shape = Shape::unknown();
  template <class Field>
  static void fields(Field&& field) {
    field("shape", &EnsureShapeAttributes::shape);
  }
};

extern const OpDef shape_n_op, size_op, rank_op, expand_dims_op, squeeze_op, ensure_shape_op;
extern const OpDef transpose_op, invert_permutation_op;

}  // namespace capstan
