// Derivatives of functions, without a tape in sight. Arguments and results are structures of tensors
// (capstan/tensor/nest.h); numbers become constants. Each argument is a variable of its own, also where the same tensor
// is given twice; a `Variable` given as argument comes in as its value.
//
//   auto [value, slope] = value_and_gradient([](Tensor x) { return x * x; }, 3.f);   // 9, 6
//   auto second = gradient_of(gradient_of([](Tensor x) { return pow(x, 3); }));
//   auto [y, pull_back] = vjp(f, x);          Tensor dx = pull_back(dy);
//   auto [y, dy] = jvp(f, x, dx);
//
// They nest, in each other and in tapes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "capstan/autodiff/forward_accumulator.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/tensor/nest.h"

namespace capstan {

struct VjpOptions {
  bool persistent = true;    // the function of seeds may be called more than once
  std::string name = "vjp";  // for messages
};

namespace detail {

/// New tensors of the same values, connected to them for those who listen.
std::vector<Tensor> renewed(std::span<const Tensor> tensors);

/// A function's evaluation that a tape followed.
class Followed {
 public:
  Followed(std::span<const Tensor> given, VjpOptions options);
  /// What the function is called with.
  std::span<const Tensor> arguments() const;
  /// Ends recording. Throws InvalidArgument if there are no outputs.
  void end(std::vector<Tensor> outputs);
  /// Gradients of the arguments. Without seeds ones; else one for each output.
  std::vector<Gradient> gradients(std::vector<Tensor> seeds) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Gradients in the structure of the arguments; of one argument without the tuple around it.
template <class... Arguments>
auto in_structure(const std::tuple<Arguments...>& arguments, std::vector<Gradient> flat) {
  auto take = [at = flat.begin()]<nest::detail::Leaf Each>(const Each&) mutable { return std::move(*at++); };
  if constexpr (sizeof...(Arguments) == 1)
    return nest::transform(std::get<0>(arguments), take);
  else
    return nest::transform(arguments, take);
}

/// Calls a function with one structure; a tuple is spread over the parameters.
template <class Function, class Arguments>
decltype(auto) call_spread(const Function& function, const Arguments& arguments) {
  if constexpr (nest::detail::is_tuple<Arguments>)
    return std::apply(function, arguments);
  else
    return std::invoke(function, arguments);
}

}  // namespace detail

/// From gradients of a function's outputs to those of its arguments.
template <class... Arguments>
class PullBack {
 public:
  PullBack(detail::Followed followed, std::tuple<Arguments...> arguments)
      : followed_(std::move(followed)), arguments_(std::move(arguments)) {}

  /// The seeds have together as many tensors as the outputs, of their shapes and types; none at all means ones. Gives
  /// the gradients in the structure of the arguments: for one argument that, for several a tuple. In a struct, whose
  /// members are tensors, a missing gradient throws. Throws FailedPrecondition at the second call, unless persistent.
  template <nest::Structure... Seeds>
  auto operator()(const Seeds&... seeds) const {
    return detail::in_structure(arguments_, followed_.gradients(nest::flatten(std::tie(seeds...))));
  }

 private:
  detail::Followed followed_;
  std::tuple<Arguments...> arguments_;
};

/// Makes of a function one that returns its value and a function from seeds to gradients, as `vjp` does.
template <class Function>
auto make_vjp(Function function, VjpOptions options = {}) {
  return [ function = std::move(function),
           options = std::move(options) ]<nest::Structure... Arguments>(const Arguments&... given) {
    const auto arguments = std::tie(given...);
    detail::Followed followed(nest::flatten(arguments), options);
    auto value = std::apply(function, nest::rebuild(arguments, followed.arguments()));
    followed.end(nest::flatten(value));
    return std::pair(std::move(value), PullBack<Arguments...>(std::move(followed), std::tuple<Arguments...>(given...)));
  };
}

/// function(arguments...) and the product of a vector with its Jacobian, as a function of the vector. What it needs is
/// kept until that function dies. It belongs to this thread.
template <class Function, nest::Structure... Arguments>
auto vjp(const Function& function, const Arguments&... arguments) {
  return make_vjp(std::cref(function))(arguments...);
}

/// function(arguments...), and its gradient by the arguments: for one argument in its structure, for several a tuple.
/// Outputs of several tensors or elements count as their sum. Throws InvalidArgument if the function returns nothing.
template <class Function, nest::Structure... Arguments>
auto value_and_gradient(const Function& function, const Arguments&... arguments) {
  auto [value, pull_back] =
      make_vjp(std::cref(function), {.persistent = false, .name = "value_and_gradient"})(arguments...);
  return std::pair(std::move(value), pull_back());
}

/// The function that gives the gradient of another one.
template <class Function>
auto gradient_of(Function function) {
  return [function = std::move(function)]<nest::Structure... Arguments>(const Arguments&... arguments) {
    return value_and_gradient(function, arguments...).second;
  };
}

/// The value and J·t in forward mode: `primals` is one argument or a tuple of them, `tangents` as many tensors of the
/// same shapes and types. Zeros where the value does not depend on the primals.
template <class Function, nest::Structure Primals, nest::Structure Tangents>
auto jvp(const Function& function, const Primals& primals, const Tangents& tangents) {
  const std::vector<Tensor> arguments = detail::renewed(nest::flatten(primals));
  const ForwardAccumulator forward(arguments, nest::flatten(tangents));
  auto value = detail::call_spread(function, nest::rebuild(primals, arguments));
  auto tangent =
      nest::map(value, [&](const Tensor& output) { return forward.jvp(output, UnconnectedGradients::zero).tensor(); });
  return std::pair(std::move(value), std::move(tangent));
}

}  // namespace capstan
