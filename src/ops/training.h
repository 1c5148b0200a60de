// Records and attributes of the optimizers' updates.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct ApplyAttributes {
  bool use_locking = false;
  template <class Field>
  static void fields(Field&& field) {
    field("use_locking", &ApplyAttributes::use_locking);
  }
};

struct NesterovAttributes {
  bool use_locking = false;
  bool use_nesterov = false;
  template <class Field>
  static void fields(Field&& field) {
    field("use_locking", &NesterovAttributes::use_locking);
    field("use_nesterov", &NesterovAttributes::use_nesterov);
  }
};

extern const OpDef apply_gradient_descent_op, apply_momentum_op, apply_keras_momentum_op,
    sparse_apply_keras_momentum_op, apply_adam_op;

}  // namespace capstan
