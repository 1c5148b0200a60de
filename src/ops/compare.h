// Records of comparisons and logic, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef equal_op, not_equal_op, less_op, less_equal_op, greater_op, greater_equal_op;
extern const OpDef logical_and_op, logical_or_op, logical_not_op;

struct EqualAttributes {
  bool incompatible_shape_error = true;  // else shapes that do not broadcast compare as unequal
  template <class Field>
  static void fields(Field&& field) {
    field("incompatible_shape_error", &EqualAttributes::incompatible_shape_error);
  }
};

/// Can the two shapes be broadcast? Unknown sizes may turn out to fit.
bool can_broadcast(const Shape& a, const Shape& b);

}  // namespace capstan
