// Records of the activation functions, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef relu_op, relu_grad_op, relu6_op, relu6_grad_op, elu_op, elu_grad_op, selu_op, selu_grad_op;
extern const OpDef leaky_relu_op, leaky_relu_grad_op, softplus_op, softplus_grad_op, softsign_op, softsign_grad_op;

struct LeakyReluAttributes {
  float alpha = 0.2f;
  template <class Field>
  static void fields(Field&& field) {
    field("alpha", &LeakyReluAttributes::alpha);
  }
};

}  // namespace capstan
