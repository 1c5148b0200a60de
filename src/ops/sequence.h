// Records and attributes of the ops that make tensors from a few numbers.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct OneHotAttributes {
  std::int64_t axis = -1;
  template <class Field>
  static void fields(Field&& field) {
    field("axis", &OneHotAttributes::axis);
  }
};

extern const OpDef range_op, lin_space_op, one_hot_op;

}  // namespace capstan
