// Jacobians, Hessians and products with them, of functions of one tensor.
//
//   Tensor j = jacobian([](Tensor x) { return tanh(x); }, x);
//   Tensor hv = hessian_vector_product(loss, w, v);
#pragma once

#include <functional>
#include <utility>

#include "capstan/autodiff/forward_accumulator.h"
#include "capstan/autodiff/gradient_tape.h"

namespace capstan {

/// Which way to go: backward costs by the outputs, forward by the inputs.
enum class JacobianMode { reverse, forward };

template <class Function>
concept FunctionOfTensor = requires(Function function, const Tensor& x) {
  { function(x) } -> std::convertible_to<Tensor>;
};

// All columns, all rows, and one product, of a function that is called once.
Tensor forward_jacobian(const std::function<Tensor(const Tensor&)>& function, const Tensor& x);
Tensor hessian_of(const std::function<Tensor(const Tensor&)>& function, const Tensor& x);
Tensor hessian_vector_product_of(const std::function<Tensor(const Tensor&)>& function, const Tensor& x,
                                 const Tensor& v);

/// The derivative of each element of function(x) by each of x: [y's shape..., x's shape...]; zeros where y does not
/// depend on x. Of complex numbers the two modes give what `gradient` and `jvp` give: for a holomorphic function
/// forward mode its derivative and reverse mode the conjugate.
template <FunctionOfTensor Function>
Tensor jacobian(Function&& function, const Tensor& x, JacobianMode mode = JacobianMode::reverse) {
  if (mode == JacobianMode::forward) return forward_jacobian(std::forward<Function>(function), x);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = function(x);
  return tape.jacobian(y, x, {.unconnected_gradients = UnconnectedGradients::zero});
}

/// Second derivatives of the sum of function(x): [x's shape..., x's shape...], forward over reverse, all rows in one
/// pass.
template <FunctionOfTensor Function>
Tensor hessian(Function&& function, const Tensor& x) {
  return hessian_of(std::forward<Function>(function), x);
}

/// H·v in x's shape, for about the cost of two gradients.
template <FunctionOfTensor Function>
Tensor hessian_vector_product(Function&& function, const Tensor& x, const Tensor& v) {
  return hessian_vector_product_of(std::forward<Function>(function), x, v);
}

}  // namespace capstan
