// Gradients by the variables that a function reads, without naming them.
//
//   for (const auto& [gradient, variable] : implicit_gradient(loss)(images, labels))
//     variable.assign_sub(0.1f * gradient.tensor());
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/state/variable.h"
#include "capstan/tensor/nest.h"

namespace capstan {

/// Gradients with their variables, in the order in which these were created.
using VariableGradients = std::vector<std::pair<Gradient, Variable>>;

namespace detail {
VariableGradients variable_gradients(GradientTape& tape, const std::vector<Tensor>& outputs);
}

/// Makes of a function one that returns its value and its gradients by the trainable variables that it reads; outputs
/// of several tensors or elements count as their sum. That one throws InvalidArgument if no trainable variable is read.
template <class Function>
auto implicit_value_and_gradient(Function function) {
  return [function = std::move(function)](const auto&... arguments) {
    GradientTape tape;
    auto value = std::invoke(function, arguments...);
    auto gradients = detail::variable_gradients(tape, nest::flatten(value));
    return std::pair(std::move(value), std::move(gradients));
  };
}

/// The gradients alone.
template <class Function>
auto implicit_gradient(Function function) {
  return [both = implicit_value_and_gradient(std::move(function))](const auto&... arguments) {
    return both(arguments...).second;
  };
}

}  // namespace capstan
