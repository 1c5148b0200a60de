// What stands behind custom_gradient.h: functions and rules of any type as functions of lists.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/tensor/nest.h"

namespace capstan {

/// Calls `use` with the variables behind some handles.
void with_variables(std::span<const Tensor> handles, const std::function<void(const std::vector<Variable>&)>& use);

namespace detail {

// ---- arguments ------------------------------------------------------------------------------------------------------

/// The argument with constants in place of numbers. Variables stay variables.
template <class T>
auto with_constants_in(const T& argument) {
  if constexpr (nest::Structure<T>)
    return nest::transform(argument, []<std::convertible_to<Tensor> Leaf>(const Leaf& leaf) { return leaf; });
  else
    return argument;
}
template <class T>
using with_constants_t = decltype(with_constants_in(std::declval<const T&>()));
template <class... T>
std::tuple<with_constants_t<T>...> with_constants(const T&... arguments) {
  return {with_constants_in(arguments)...};
}

/// All tensors of the arguments, in order; handles of variables.
template <class... T>
std::vector<Tensor> inputs_of(const std::tuple<T...>& arguments) {
  std::vector<Tensor> inputs;
  const auto add = [&]<std::convertible_to<Tensor> Leaf>(const Leaf& leaf) {
    inputs.push_back(GradientTape::identity_tensor(leaf));
  };
  const auto add_all = [&]<class Argument>(const Argument& argument) {
    if constexpr (nest::Structure<Argument>) nest::for_each(argument, add);
  };
  std::apply([&](const auto&... argument) { (add_all(argument), ...); }, arguments);
  return inputs;
}

/// The arguments with other tensors. Variables stay what they are.
template <class... T>
std::tuple<T...> with_inputs(const std::tuple<T...>& arguments, std::span<const Tensor> inputs) {
  std::size_t at = 0;
  const auto exchange = [&]<std::convertible_to<Tensor> Leaf>(const Leaf& leaf) {
    if constexpr (std::same_as<Leaf, Tensor>)
      return inputs[at++];
    else if constexpr (HasHandle<Leaf>)
      return ++at, leaf;
    else
      return Leaf(inputs[at++]);
  };
  const auto exchange_all = [&]<class Argument>(const Argument& argument) {
    if constexpr (nest::Structure<Argument>)
      return nest::transform(argument, exchange);
    else
      return argument;
  };
  return std::apply([&](const auto&... argument) { return std::tuple<T...>{exchange_all(argument)...}; }, arguments);
}

// ---- rules ----------------------------------------------------------------------------------------------------------

struct CustomGradients {
  std::vector<Gradient> inputs, variables;
};

struct CustomRule {
  std::function<CustomGradients(std::span<const Gradient> dy, std::span<const Tensor> variables)> call;
  bool takes_variables = false;
};

struct CustomBody {
  std::vector<Tensor> outputs;
  CustomRule rule;
};

/// Stands for the rule that hands on what it gets.
struct PassThrough {};
CustomRule pass_through_rule();

[[noreturn]] void throw_rule_takes(std::size_t taken, std::size_t outputs);

template <class Result>
std::vector<Gradient> flat_gradients(const Result& result) {
  std::vector<Gradient> flat;
  nest::for_each(result, [&](const Gradient& gradient) { flat.push_back(gradient); });
  return flat;
}

template <std::size_t>
using GradientAt = const Gradient&;

/// Does the rule take so many gradients one by one, and then `More`?
template <class Rule, std::size_t kCount, class... More>
inline constexpr bool takes_each = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::is_invocable_v<const Rule&, GradientAt<I>..., More...>;
}
(std::make_index_sequence<kCount>{});

template <class Rule, class... More>
inline constexpr bool takes_list = std::is_invocable_v<const Rule&, const std::vector<Gradient>&, More...> ||
                                   std::is_invocable_v<const Rule&, const std::vector<Tensor>&, More...>;

inline constexpr std::size_t kMostParameters = 16;
/// The number of gradients that the rule takes one by one; one more than the most if there is none.
template <class Rule, std::size_t kCount, class... More>
constexpr std::size_t parameter_count() {
  if constexpr (kCount > kMostParameters || takes_each<Rule, kCount, More...>)
    return kCount;
  else
    return parameter_count<Rule, kCount + 1, More...>();
}

/// Can the rule be called for outputs of this type?
template <class Outputs, class Rule, class... More>
constexpr bool is_rule() {
  constexpr std::size_t count = nest::detail::fixed_count<Outputs>();
  if constexpr (takes_list<Rule, More...>)
    return true;
  else if constexpr (count == nest::detail::kVaries)
    return parameter_count<Rule, 0, More...>() <= kMostParameters;
  else
    return takes_each<Rule, count, More...>;
}

template <class Rule, class... More>
decltype(auto) call_rule(const Rule& rule, std::span<const Gradient> dy, const More&... more) {
  if constexpr (std::is_invocable_v<const Rule&, const std::vector<Gradient>&, const More&...>) {
    return rule(std::vector<Gradient>(dy.begin(), dy.end()), more...);
  } else if constexpr (takes_list<Rule, const More&...>) {
    return rule(std::vector<Tensor>(dy.begin(), dy.end()), more...);
  } else {
    constexpr std::size_t count = parameter_count<Rule, 0, const More&...>();
    if (count != dy.size()) throw_rule_takes(count, dy.size());
    return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) { return rule(dy[I]..., more...); }
    (std::make_index_sequence<count>{});
  }
}

template <class Result>
CustomGradients split_gradients(const Result& result) {
  static_assert(
      requires { std::tuple_size<Result>::value; } && !nest::detail::is_array<Result>,
      "a rule that takes variables returns a pair: the inputs' gradients and the variables'");
  static_assert(std::tuple_size_v<Result> == 2,
                "a rule that takes variables returns a pair: the inputs' gradients and the variables'");
  return {flat_gradients(std::get<0>(result)), flat_gradients(std::get<1>(result))};
}

template <class Outputs, class Rule>
CustomRule to_custom_rule(Rule rule) {
  using Variables = const std::vector<Variable>&;
  if constexpr (std::same_as<Rule, PassThrough>) {
    return pass_through_rule();
  } else if constexpr (is_rule<Outputs, Rule>()) {
    return {[rule = std::move(rule)](std::span<const Gradient> dy, std::span<const Tensor>) -> CustomGradients {
              if constexpr (std::is_void_v<decltype(call_rule(rule, dy))>)
                return call_rule(rule, dy), CustomGradients();
              else
                return {flat_gradients(call_rule(rule, dy)), {}};
            },
            false};
  } else {
    static_assert(is_rule<Outputs, Rule, Variables>(),
                  "the rule given to with_gradient takes one tensor or Gradient for each output, or a span or vector "
                  "of them, and then, if it wants, `const std::vector<Variable>&`");
    return {[rule = std::move(rule)](std::span<const Gradient> dy, std::span<const Tensor> handles) {
              CustomGradients gradients;
              with_variables(handles,
                             [&](Variables variables) { gradients = split_gradients(call_rule(rule, dy, variables)); });
              return gradients;
            },
            true};
  }
}

// ---- running --------------------------------------------------------------------------------------------------------

/// Runs the body and records its rule; new tensors in place of the outputs.
std::vector<Tensor> run_custom(const std::string& name, const std::vector<Tensor>& inputs,
                               const std::function<CustomBody()>& body);
/// Runs `first` without recording, and `again` with other inputs for each gradient.
std::vector<Tensor> run_recomputed(const std::string& name, const std::vector<Tensor>& inputs,
                                   const std::function<std::vector<Tensor>()>& first,
                                   const std::function<std::vector<Tensor>(std::span<const Tensor>)>& again);

}  // namespace detail
}  // namespace capstan
