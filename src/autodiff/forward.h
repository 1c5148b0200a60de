// How tangents pass through one operation.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "capstan/op/op.h"

namespace capstan {

/// The tangents of the outputs of a call, undefined where there is none. `tangents` has one for each input, undefined
/// where the input has none, at least one defined. The call has all its inputs and outputs.
std::vector<Tensor> output_tangents(const OpCall& call, std::span<const Tensor> tangents);

/// From gradients of outputs to gradients of inputs.
using Transposable = std::function<std::vector<Gradient>(std::span<const Gradient>)>;

/// J·t for a backward function, which is J^T·u: that is linear in u, and its own gradient with respect to u, with t as
/// output gradients, is J·t. The function is called once.
std::vector<Tensor> transposed(const Transposable& backward, std::span<const TensorSpec> outputs,
                               std::span<const Tensor> tangents);

}  // namespace capstan
