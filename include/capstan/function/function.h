// Functions: an eager program that is traced once for each kind of arguments and then runs as a graph.
//
//   auto step = function([&](Tensor images, Tensor labels) {
//     GradientTape tape;
//     Tensor loss = reduce_mean(sparse_softmax_cross_entropy(labels, model(images)));
//     adam.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
//     return loss;
//   });
//   step(images, labels);   // traced
//   step(images, labels);   // runs
//
// Taking `function(...)` away leaves the same program, eager. A call is traced anew when an argument has another
// element type, shape or structure, when a number, string or pointer among the arguments has another value, or when
// variables among them coincide in another way. Tensors from outside become arguments of the trace, variables are read
// and written where they are, and side effects keep their order. What the body does beside tensors (printing, counting,
// changing C++ objects) happens while it is traced and not again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/function/detail/arguments.h"
#include "capstan/function/detail/function_core.h"

namespace capstan {

/// Type and shape of an argument: `spec<float>({-1, 28, 28})`; -1 is a size that may change from call to call.
template <Element T>
TensorSpec spec(const Shape& shape) {
  return {dtype_of<T>(), shape};
}

template <class Callable>
class Function {
 public:
  Function(Callable callable, FunctionOptions options)
      : callable_(std::make_shared<Callable>(std::move(callable))),
        core_(std::make_shared<detail::FunctionCore>(std::move(options))) {}

  /// Runs the function; the first call with arguments of a new kind traces it. What the body throws while it is traced
  /// reaches the caller unchanged and leaves nothing behind. Any number of threads may call at once.
  template <class... Argument>
  requires std::invocable<Callable&, const Argument&...>
  auto operator()(const Argument&... given) const {
    const auto arguments = detail::bound_arguments<Callable>(given...);
    detail::Arguments flat;
    std::apply([&](const auto&... each) { (detail::collect(each, flat), ...); }, arguments);
    using Result = std::remove_cvref_t<decltype(std::apply(*callable_, arguments))>;
    const auto body = [&](std::span<const Tensor> inputs) { return trace_body<Result>(arguments, inputs); };
    auto made = core_->call(flat, std::cref(body));
    if constexpr (!std::is_void_v<Result>)
      return nest::rebuild(*static_cast<const Result*>(made.concrete->structure.get()), made.outputs);
  }

  /// How often the body was traced.
  int trace_count() const { return core_->trace_count(); }
  /// Why, for each trace after the first.
  std::vector<std::string> retrace_reasons() const { return core_->retrace_reasons(); }
  const std::string& name() const { return core_->options().name; }

 private:
  template <class Result, class Arguments>
  detail::TraceResult trace_body(const Arguments& arguments, std::span<const Tensor> inputs) const {
    const Tensor* next = inputs.data();
    auto symbolic =
        std::apply([&](const auto&... each) { return Arguments{detail::replaced(each, next)...}; }, arguments);
    if constexpr (std::is_void_v<Result>) {
      std::apply(*callable_, symbolic);
      return {};
    } else {
      auto result = std::make_shared<const Result>(std::apply(*callable_, symbolic));
      return {nest::flatten(*result), result};
    }
  }

  std::shared_ptr<Callable> callable_;
  std::shared_ptr<detail::FunctionCore> core_;
};

/// Makes a function of a callable. Copies of it are the same function.
template <class Callable>
Function<std::decay_t<Callable>> function(Callable&& callable, FunctionOptions options = {}) {
  return {std::forward<Callable>(callable), std::move(options)};
}

}  // namespace capstan
