// Branches and loops that depend on values. Outside of a function they simply run; while a function is traced they
// become one node, which can be differentiated to any order and saved.
//
//   Tensor y = cond(x > 0, [&] { return log(x); }, [&] { return x; });
//   Tensor root = while_loop([&](Tensor x) { return abs(x * x - a) > 1e-6f; },
//                            [&](Tensor x) { return 0.5f * (x + a / x); }, /*start=*/a);
//
// Results and loop states are structures of tensors (capstan/tensor/nest.h). Tensors and variables from around are used
// as they are.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/function/detail/arguments.h"
#include "capstan/function/detail/flow.h"
#include "capstan/tensor/nest.h"

namespace capstan {

namespace detail {

/// A structure as it comes out of a graph: tensors in its leaves.
template <class T>
using as_tensors_t = decltype(nest::rebuild(std::declval<const T&>(), std::span<const Tensor>()));

template <class T>
as_tensors_t<T> as_tensors(const T& value) {
  return nest::rebuild(value, nest::flatten(value));
}

/// The sizes of containers in a structure, for comparison: what its type does not tell.
template <class T>
std::string sizes_of(const T& value) {
  Arguments collected;
  collect(value, collected);
  return collected.host;
}

/// Runs branches whose results have one type.
template <class Result, class... Branch>
auto choose(const std::string& name, const Tensor& choice, std::size_t now, bool is_now, const Branch&... branches) {
  if constexpr (std::is_void_v<Result>) {
    const std::array<std::function<void()>, sizeof...(Branch)> all{branches...};
    if (is_now) return all[now]();
    std::vector<BranchBody> bodies;
    for (const auto& branch : all) bodies.push_back([&branch] { return branch(), std::vector<Tensor>(); });
    trace_branches(name, choice, bodies, [] {});
  } else {
    const std::array<std::function<Result()>, sizeof...(Branch)> all{
        [&branches]() -> Result { return as_tensors(branches()); }...};
    if (is_now) return all[now]();
    std::vector<std::optional<Result>> results(all.size());
    std::vector<BranchBody> bodies;
    for (std::size_t i = 0; i < all.size(); ++i)
      bodies.push_back([&, i] {
        results[i].emplace(all[i]());
        return nest::flatten(*results[i]);
      });
    const auto outputs = trace_branches(name, choice, bodies, [&] {
      for (const auto& result : results)
        if (sizes_of(*result) != sizes_of(*results[0]))
          throw_branch_structures(name, sizes_of(*results[0]), sizes_of(*result));
    });
    return nest::rebuild(*results[0], outputs);
  }
}

template <class Result>
struct branch_result {
  using type = as_tensors_t<std::remove_cvref_t<Result>>;
};
template <>
struct branch_result<void> {
  using type = void;
};
template <class Branch>
using branch_result_t = typename branch_result<std::invoke_result_t<Branch&>>::type;

}  // namespace detail

/// What the first function returns if the condition (one element: not zero, not false, no empty string) holds, else
/// what the second returns. Both return the same structure of the same element types, or nothing. Traced, both are
/// traced and one is run; TypeError if their results differ in structure or type.
template <class Then, class Else>
auto cond(const Tensor& condition, const Then& then, const Else& otherwise) {
  using Result = detail::branch_result_t<const Then>;
  static_assert(std::same_as<Result, detail::branch_result_t<const Else>>,
                "cond: both branches must return the same structure of tensors");
  const bool is_now = detail::is_decided_now(condition);
  return detail::choose<Result>("cond", condition, is_now && !static_cast<bool>(condition) ? 1 : 0, is_now, then,
                                otherwise);
}

/// What the branch of number `index` (int32, one element) returns; the last one's result if there is none of that
/// number.
template <class First, class... Branch>
auto switch_case(const Tensor& index, const First& first, const Branch&... branches) {
  using Result = detail::branch_result_t<const First>;
  static_assert((std::same_as<Result, detail::branch_result_t<const Branch>> && ...),
                "switch_case: all branches must return the same structure of tensors");
  const bool is_now = detail::is_decided_now(index);
  const std::size_t now = is_now ? detail::branch_number(index, 1 + sizeof...(Branch)) : 0;
  return detail::choose<Result>("switch_case", index, now, is_now, first, branches...);
}

struct WhileLoopOptions {
  std::string name = "while_loop";
  /// -1: no limit.
  std::int64_t maximum_iterations = -1;
  /// For each tensor of the state the shape that it keeps; empty: that of the start. Needed where a size changes.
  std::vector<Shape> shape_invariants = {};
  /// Taken for TensorFlow's sake; iterations run one after the other.
  std::int64_t parallel_iterations = 10;
  /// False: the loop's results have no gradient.
  bool back_prop = true;
};

namespace detail {

/// Calls with the parts of a tuple, pair or array as arguments, or with the structure itself.
template <class F, class State>
decltype(auto) call_with(F& f, const State& state) {
  if constexpr (std::invocable<F&, const State&>) {
    return f(state);
  } else {
    static_assert(nest::detail::is_tuple<State> || nest::detail::is_array<State>,
                  "while_loop: the function must take the state");
    return std::apply(f, state);
  }
}

}  // namespace detail

/// Replaces the state by `body(state)` as long as `condition(state)` holds, which is looked at first. A tuple, pair or
/// array is handed over as so many arguments, unless the functions take it as one. Traced, the element types stay and
/// the shapes too, unless `shape_invariants` says otherwise; TypeError or InvalidArgument names the part of the state
/// that breaks this.
template <class Condition, class Body, nest::Structure State>
detail::as_tensors_t<State> while_loop(const Condition& condition, const Body& body, const State& start,
                                       const WhileLoopOptions& options = {}) {
  using Values = detail::as_tensors_t<State>;
  const Values like = detail::as_tensors(start);
  const auto state_of = [&](std::span<const Tensor> values) { return Values(nest::rebuild(like, values)); };
  const auto outputs = detail::run_loop(
      {options.name, options.maximum_iterations, options.shape_invariants, options.parallel_iterations,
       options.back_prop},
      nest::flatten(like),
      [&](std::span<const Tensor> values) { return Tensor(detail::call_with(condition, state_of(values))); },
      [&](std::span<const Tensor> values) { return nest::flatten(detail::call_with(body, state_of(values))); });
  return state_of(outputs);
}

}  // namespace capstan
