// Structures of tensors: a tensor, a tuple, pair, array, vector or map with string keys of structures, a plain struct
// whose members are structures (an aggregate of up to 16 members, no C arrays), and any nesting of these, empty ones
// too. What turns into a tensor (a variable, a gradient) counts as one; a number, a string, a vector or array of
// numbers becomes a constant.
//
//   struct State { Tensor position; std::vector<Tensor> weights; };
//   std::vector<Tensor> flat = nest::flatten(state);        // position, then the weights
//   State doubled = nest::map(state, [](Tensor x) { return 2 * x; });
//
// The order is that of the members, elements, and sorted keys.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/tensor/tensor.h"

namespace capstan::nest {

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t kSize>
inline constexpr bool is_array<std::array<T, kSize>> = true;
template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

template <class T>
constexpr bool is_constant() {
  if constexpr (Element<T>)
    return true;
  else if constexpr (is_vector<T>)
    return Element<typename T::value_type> && !std::is_same_v<typename T::value_type, bool>;
  else if constexpr (is_array<T>)
    return Element<typename T::value_type>;
  else
    return false;
}

/// Turns into whatever a member of an aggregate asks for; never called.
struct Anything {
  std::size_t index;
  template <class T>
  operator T() const;
};
template <class T, std::size_t kCount>
inline constexpr bool takes_members = []<std::size_t... I>(std::index_sequence<I...>) {
  return requires { T{Anything{I}...}; };
}
(std::make_index_sequence<kCount>{});

inline constexpr std::size_t kMostMembers = 16;
/// The number of members of an aggregate; one more than the most for all with more.
template <class T, std::size_t kCount = kMostMembers + 1>
constexpr std::size_t member_count() {
  if constexpr (kCount == 0 || takes_members<T, kCount>)
    return kCount;
  else
    return member_count<T, kCount - 1>();
}

/// function(member...).
template <class T, class Function>
constexpr decltype(auto) with_members(const T& s, Function&& function) {
  constexpr std::size_t count = member_count<T>();
  static_assert(count <= kMostMembers, "a structure of tensors has at most 16 members");
  if constexpr (count == 0) {
    return function();
  } else if constexpr (count == 1) {
    const auto& [a] = s;
    return function(a);
  } else if constexpr (count == 2) {
    const auto& [a, b] = s;
    return function(a, b);
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = s;
    return function(a, b, c);
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = s;
    return function(a, b, c, d);
  } else if constexpr (count == 5) {
    const auto& [a, b, c, d, e] = s;
    return function(a, b, c, d, e);
  } else if constexpr (count == 6) {
    const auto& [a, b, c, d, e, f] = s;
    return function(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    const auto& [a, b, c, d, e, f, g] = s;
    return function(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    const auto& [a, b, c, d, e, f, g, h] = s;
    return function(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    const auto& [a, b, c, d, e, f, g, h, i] = s;
    return function(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return function(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return function(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return function(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

/// function(part...) of a tuple, pair, array or aggregate: what has its number of parts in its type.
template <class T, class Function>
constexpr decltype(auto) with_parts(const T& structure, Function&& function) {
  if constexpr (is_tuple<T> || is_array<T>)
    return std::apply(function, structure);
  else
    return with_members(structure, function);
}

/// A structure's type with other parts.
template <class T, class... Part>
struct Rebuilt {
  static_assert(
      requires(Part... part) { T{std::move(part)...}; },
      "a member of this struct cannot take a tensor; make numbers in structures of tensors tensors");
  using type = T;
};
template <class... T, class... Part>
struct Rebuilt<std::tuple<T...>, Part...> {
  using type = std::tuple<Part...>;
};
template <class A, class B, class PartA, class PartB>
struct Rebuilt<std::pair<A, B>, PartA, PartB> {
  using type = std::pair<PartA, PartB>;
};
template <class T, std::size_t kSize, class... Part>
struct Rebuilt<std::array<T, kSize>, Part...> {
  using type = std::array<std::common_type_t<Part...>, kSize>;
};
template <class T>
struct Rebuilt<std::array<T, 0>> {
  using type = std::array<T, 0>;
};

/// One tensor's place, whatever stands there.
template <class T>
concept Leaf = std::convertible_to<T, Tensor> || is_constant<T>();

template <class T>
Tensor to_constant(const T& value) {
  if constexpr (is_array<T>)
    return constant(std::span<const typename T::value_type>(value), Shape{static_cast<std::int64_t>(value.size())});
  else
    return constant(value);
}

[[noreturn]] void throw_count(std::size_t expected, std::size_t got);
inline void check_count(std::size_t expected, std::size_t got) {
  if (expected != got) throw_count(expected, got);
}

template <class... T>
struct Types {};
template <class T>
constexpr bool is_structure();
template <class... T>
constexpr bool are_structures(Types<T...>) {
  return (is_structure<T>() && ...);
}
/// The types of a structure's parts.
template <class T>
using parts_of = decltype(with_parts(
    std::declval<const T&>(), [](const auto&... part) { return Types<std::remove_cvref_t<decltype(part)>...>(); }));

template <class T>
constexpr bool is_structure() {
  if constexpr (std::convertible_to<T, Tensor> || is_constant<T>())
    return true;
  else if constexpr (is_vector<T> || is_array<T>)
    return is_structure<typename T::value_type>();
  else if constexpr (is_map<T>)
    return is_structure<typename T::mapped_type>();
  else if constexpr (is_tuple<T>)
    return are_structures(parts_of<T>());
  else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
    if constexpr (member_count<T>() <= kMostMembers)
      return are_structures(parts_of<T>());
    else
      return false;
  } else
    return false;
}

inline constexpr std::size_t kVaries = ~std::size_t{0};
template <class T>
constexpr std::size_t fixed_count();
template <class... T>
constexpr std::size_t sum_of_counts(Types<T...>) {
  std::size_t sum = 0;
  [[maybe_unused]] const auto add = [&](std::size_t count) {
    sum = sum == kVaries || count == kVaries ? kVaries : sum + count;
  };
  (add(fixed_count<T>()), ...);
  return sum;
}
/// The number of tensors in a structure of this type, `kVaries` if only a value tells.
template <class T>
constexpr std::size_t fixed_count() {
  if constexpr (Leaf<T>)
    return 1;
  else if constexpr (is_vector<T> || is_map<T>)
    return kVaries;
  else
    return sum_of_counts(parts_of<T>());
}

}  // namespace detail

template <class T>
concept Structure = detail::is_structure<std::remove_cvref_t<T>>();

/// Calls `visit` with each leaf in order. A leaf is what `visit` takes; constants are tensors by then.
template <class T, class Visitor>
void for_each(const T& structure, Visitor&& visit) {
  if constexpr (std::invocable<Visitor&, const T&>) {
    visit(structure);
  } else if constexpr (detail::is_constant<T>()) {
    visit(detail::to_constant(structure));
  } else if constexpr (detail::is_vector<T>) {
    for (const auto& each : structure) for_each(each, visit);
  } else if constexpr (detail::is_map<T>) {
    for (const auto& [key, each] : structure) for_each(each, visit);
  } else {
    static_assert(detail::is_structure<T>(), "this type is no structure of tensors");
    detail::with_parts(structure, [&](const auto&... part) { (for_each(part, visit), ...); });
  }
}

/// The structure with visit(leaf) in place of each leaf, which is what `visit` takes; constants are tensors by then.
/// Containers get the element type that fits; the members of a struct must take the results.
template <class T, class Visitor>
auto transform(const T& structure, Visitor&& visit) {
  if constexpr (std::invocable<Visitor&, const T&>) {
    return visit(structure);
  } else if constexpr (detail::is_constant<T>()) {
    return visit(detail::to_constant(structure));
  } else if constexpr (detail::is_vector<T>) {
    std::vector<decltype(transform(structure[0], visit))> result;
    result.reserve(structure.size());
    for (const auto& each : structure) result.push_back(transform(each, visit));
    return result;
  } else if constexpr (detail::is_map<T>) {
    std::map<std::string, decltype(transform(structure.begin()->second, visit))> result;
    for (const auto& [key, each] : structure) result.emplace_hint(result.end(), key, transform(each, visit));
    return result;
  } else {
    static_assert(detail::is_structure<T>(), "this type is no structure of tensors");
    return detail::with_parts(structure, [&](const auto&... part) {
      // Braces: from left to right.
      return typename detail::Rebuilt<T, decltype(transform(part, visit))...>::type{transform(part, visit)...};
    });
  }
}

/// Its tensors, in order.
template <Structure T>
std::vector<Tensor> flatten(const T& structure) {
  std::vector<Tensor> flat;
  for_each(structure, [&](const Tensor& tensor) { flat.push_back(tensor); });
  return flat;
}

/// The number of its tensors. Looks at no value: a variable is not read.
template <Structure T>
std::size_t count(const T& structure) {
  std::size_t count = 0;
  for_each(structure, [&]<detail::Leaf Each>(const Each&) { ++count; });
  return count;
}

/// The structure of `like` with the tensors of `flat`, in order. Throws InvalidArgument if their numbers differ.
template <Structure T>
auto rebuild(const T& like, std::span<const Tensor> flat) {
  detail::check_count(count(like), flat.size());
  return transform(like, [at = flat.begin()]<detail::Leaf Each>(const Each&) mutable { return *at++; });
}

/// The structure with function(tensor) in place of each tensor.
template <Structure T, std::invocable<const Tensor&> Function>
auto map(const T& structure, Function&& function) {
  return transform(structure, [&](const Tensor& tensor) { return function(tensor); });
}

}  // namespace capstan::nest
