// Records of the products of matrices, for the kernel table.
#pragma once

#include <string>

#include "capstan/op/op.h"

namespace capstan {

struct MatMulAttributes {
  bool transpose_a = false;
  bool transpose_b = false;
  // Says that the product is a gradient of another one; for rewrites of graphs, without effect on the result.
  bool grad_a = false;
  bool grad_b = false;
  template <class Field>
  static void fields(Field&& field) {
    field("transpose_a", &MatMulAttributes::transpose_a);
    field("transpose_b", &MatMulAttributes::transpose_b);
    field("grad_a", &MatMulAttributes::grad_a);
    field("grad_b", &MatMulAttributes::grad_b);
  }
};

struct BatchMatMulAttributes {
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  template <class Field>
  static void fields(Field&& field) {
    field("adj_x", &BatchMatMulAttributes::adj_x);
    field("adj_y", &BatchMatMulAttributes::adj_y);
    field("grad_x", &BatchMatMulAttributes::grad_x);
    field("grad_y", &BatchMatMulAttributes::grad_y);
  }
};

struct EinsumAttributes {
  std::string equation;
  template <class Field>
  static void fields(Field&& field) {
    field("equation", &EinsumAttributes::equation);
  }
};

extern const OpDef mat_mul_op, batch_mat_mul_op, batch_mat_mul_v2_op, einsum_op;

}  // namespace capstan
