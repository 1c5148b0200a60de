// Records and attributes of the reductions.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct ReduceAttributes {
  bool keep_dims = false;
  template <class Field>
  static void fields(Field&& field) {
    field("keep_dims", &ReduceAttributes::keep_dims);
  }
};

extern const OpDef sum_op, mean_op;

}  // namespace capstan
