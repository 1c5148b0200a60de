// Products of matrices.
#pragma once

#include <span>
#include <string_view>

#include "capstan/tensor/tensor.h"

namespace capstan {

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  bool adjoint_a = false;  // transposed and conjugated
  bool adjoint_b = false;
};

/// The product of two matrices, or of each pair of matrices in the last two dimensions; leading dimensions broadcast:
/// [5,2,3] by [3,4] gives [5,2,4]. Throws InvalidArgument if the inner dimensions differ.
Tensor matmul(Tensor a, Tensor b, const MatMulOptions& options = {});

/// Einstein's summation: `einsum("bij,jk->bik", {a, b})`. Labels that the output lacks are summed over; `...` stands
/// for the dimensions without a label, which broadcast. Without `->` the output has the labels that appear once, in
/// alphabetical order. More than two tensors are multiplied from left to right.
Tensor einsum(std::string_view equation, std::initializer_list<Tensor> inputs);
Tensor einsum(std::string_view equation, std::span<const Tensor> inputs);

}  // namespace capstan
