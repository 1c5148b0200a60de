// Gradients by finite differences, in float64.
#pragma once

#include <functional>
#include <vector>

#include "capstan/tensor/tensor.h"

namespace capstan::conformance {

/// d(sum over outputs of seed·output)/d(inputs[index]) by central differences.
Tensor finite_difference(const std::function<double(const std::vector<Tensor>&)>& weighted_sum,
                         std::vector<Tensor> inputs, std::size_t index);

}  // namespace capstan::conformance
