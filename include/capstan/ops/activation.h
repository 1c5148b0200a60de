// Activation functions of neural networks; elementwise.
#pragma once

#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// max(x, 0); NaN stays NaN.
Tensor relu(Tensor x);
/// x bounded by 0 and 6.
Tensor relu6(Tensor x);
/// x where positive, else e^x - 1.
Tensor elu(Tensor x);
/// The self-normalizing elu: 1.0507 x where positive, else 1.7581 (e^x - 1).
Tensor selu(Tensor x);

struct LeakyReluOptions {
  float alpha = 0.2f;  // slope below zero
};
/// x where positive, else alpha x.
Tensor leaky_relu(Tensor x, const LeakyReluOptions& options = {});

/// log(1 + e^x).
Tensor softplus(Tensor x);
/// x / (1 + |x|).
Tensor softsign(Tensor x);
/// x sigmoid(beta x). `beta` may be a tensor that broadcasts; its gradient has its own shape.
Tensor silu(Tensor x, Operand beta = 1);
/// Another name of silu.
Tensor swish(Tensor x, Operand beta = 1);

struct GeluOptions {
  bool approximate = false;  // with tanh instead of the error function
};
/// x times the probability that a normal number is below x.
Tensor gelu(Tensor x, const GeluOptions& options = {});

}  // namespace capstan
