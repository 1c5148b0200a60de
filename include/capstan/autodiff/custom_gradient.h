// Functions with a gradient of one's own, and functions that are run again instead of remembered.
//
//   auto log1pexp = custom_gradient([](Tensor x) {
//     Tensor e = exp(x);
//     return with_gradient(log1p(e), [=](Tensor dy) { return dy * (1 - 1 / (1 + e)); });
//   });
//
// Arguments and outputs are structures of tensors (capstan/tensor/nest.h); numbers become constants, variables may be
// arguments, and what is no structure (a pointer to an object) is handed on and is no input. The outputs are new
// tensors. What the body computes is recorded as always, so that a rule which uses the body's tensors can be
// differentiated again; but only the rule leads from the outputs to the inputs. A captured tensor is no input.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "capstan/autodiff/detail/custom_rule.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/tensor/nest.h"

namespace capstan {

struct CustomGradientOptions {
  std::string name = "custom_gradient";  // for messages
};

/// What a function given to `custom_gradient` returns.
template <class Outputs, class Rule>
struct WithGradient {
  Outputs outputs;
  Rule rule;
};

/// The rule takes the gradients of the outputs, in order: so many tensors or `Gradient`s as there are outputs, or one
/// `std::span<const Gradient>` or vector of them. It returns those of the inputs: one value, or a structure of as many
/// as there are inputs, `Gradient()` for an input that gets none.
///
/// If the body reads trainable variables that are no arguments, the rule takes a last parameter `const
/// std::vector<Variable>&`, these variables in the order of their first read (C++ leaves the order of arguments open:
/// read them in statements of their own), and returns a pair: the inputs' gradients and the variables'. Both may be
/// empty.
template <nest::Structure Outputs, class Rule>
WithGradient<Outputs, Rule> with_gradient(Outputs outputs, Rule rule) {
  return {std::move(outputs), std::move(rule)};
}

template <class Function>
class CustomGradient {
 public:
  CustomGradient(Function function, CustomGradientOptions options)
      : function_(std::move(function)), options_(std::move(options)) {}

  /// Runs the function. Throws TypeError if it read variables and its rule takes none. `gradient`, later, throws
  /// InvalidArgument if the rule returns another number of gradients or one of another shape than its input, TypeError
  /// for another type; what the rule throws passes unchanged.
  template <class... Arguments>
  requires std::invocable<const Function&, detail::with_constants_t<Arguments>...>
  auto operator()(const Arguments&... given) const {
    using Result = std::invoke_result_t<const Function&, detail::with_constants_t<Arguments>...>;
    using Outputs = decltype(std::declval<Result>().outputs);
    const auto arguments = detail::with_constants(given...);
    std::optional<Outputs> outputs;
    const auto flat = detail::run_custom(options_.name, detail::inputs_of(arguments), [&] {
      auto result = std::apply(function_, arguments);
      outputs.emplace(std::move(result.outputs));
      return detail::CustomBody{nest::flatten(*outputs), detail::to_custom_rule<Outputs>(std::move(result.rule))};
    });
    return nest::rebuild(*outputs, flat);
  }

 private:
  Function function_;
  CustomGradientOptions options_;
};

/// The function with the gradient that it returns by `with_gradient`.
template <class Function>
CustomGradient<Function> custom_gradient(Function function, CustomGradientOptions options = {}) {
  return {std::move(function), std::move(options)};
}

/// The function, whose inputs get the gradients of its outputs unchanged, one for one. Variables inside get none.
template <class Function>
auto grad_pass_through(Function function, CustomGradientOptions options = {.name = "grad_pass_through"}) {
  return custom_gradient(
      [function = std::move(function)](const auto&... arguments) {
        return with_gradient(std::invoke(function, arguments...), detail::PassThrough());
      },
      std::move(options));
}

template <class Function>
class RecomputeGrad {
 public:
  RecomputeGrad(Function function, CustomGradientOptions options)
      : function_(std::make_shared<const Function>(std::move(function))), options_(std::move(options)) {}

  template <class... Arguments>
  requires std::invocable<const Function&, detail::with_constants_t<Arguments>...>
  auto operator()(const Arguments&... given) const {
    using Outputs = std::remove_cvref_t<std::invoke_result_t<const Function&, detail::with_constants_t<Arguments>...>>;
    const auto arguments = detail::with_constants(given...);
    std::optional<Outputs> outputs;
    const auto run = [function = function_, arguments](std::span<const Tensor> inputs, std::optional<Outputs>& to) {
      to.emplace(std::apply(*function, detail::with_inputs(arguments, inputs)));
      return nest::flatten(*to);
    };
    const auto inputs = detail::inputs_of(arguments);
    const auto flat = detail::run_recomputed(
        options_.name, inputs, [&] { return run(inputs, outputs); },
        [run](std::span<const Tensor> again) {
          std::optional<Outputs> unused;
          return run(again, unused);
        });
    return nest::rebuild(*outputs, flat);
  }

 private:
  std::shared_ptr<const Function> function_;
  CustomGradientOptions options_;
};

/// The function, run without recording; each gradient runs it again, so that nothing but its inputs is kept. Gradients
/// of any order reach its arguments (zeros for one that it does not use) and the trainable variables that it reads.
/// Forward mode throws Unimplemented. The function has to compute the same each time; `gradient` throws
/// FailedPrecondition if the number, a shape or a type of its outputs is another.
template <class Function>
RecomputeGrad<Function> recompute_grad(Function function, CustomGradientOptions options = {.name = "recompute_grad"}) {
  return {std::move(function), std::move(options)};
}

}  // namespace capstan
