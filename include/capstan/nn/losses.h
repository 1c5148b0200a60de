// Losses, one number per example unless said otherwise; take `reduce_mean` of them to train. Cross entropies from
// logits stand in ops/nn.h (`softmax_cross_entropy`, `sparse_softmax_cross_entropy`).
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan::nn {

/// Mean over the last dimension of (targets - predictions) squared. Both have the same shape.
Tensor mean_squared_error(const Tensor& targets, const Tensor& predictions);
/// Mean over the last dimension of |targets - predictions|.
Tensor mean_absolute_error(const Tensor& targets, const Tensor& predictions);
/// Mean over the last dimension: squared up to `delta`, linear beyond (Huber, 1964).
Tensor huber(const Tensor& targets, const Tensor& predictions, double delta = 1);
/// Mean over the last dimension of the cross entropy of independent yes/no answers, from logits; targets in [0, 1].
Tensor binary_cross_entropy(const Tensor& targets, const Tensor& logits);

}  // namespace capstan::nn
