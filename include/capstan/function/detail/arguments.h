// From the arguments of a call to tensors and text, and back to arguments with other tensors in their places.
#pragma once

#include <concepts>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/function/detail/function_core.h"
#include "capstan/tensor/nest.h"

namespace capstan::detail {

/// How a type that is no tensor but stands for a handle (a variable) goes through a signature.
template <class T>
struct HandleArgument {
  static constexpr bool is_handle = false;
};

template <class T>
concept Handle = HandleArgument<T>::is_handle;
/// A leaf that tensors can be put in the place of.
template <class T>
concept TensorLeaf = !Handle<T> && std::convertible_to<const T&, Tensor> && std::constructible_from<T, Tensor>;
/// A value of the host: part of what decides about a trace.
template <class T>
concept HostValue = !std::convertible_to<const T&, Tensor> &&
                    (nest::detail::is_constant<T>() || std::is_enum_v<T> || std::is_pointer_v<T> ||
                     std::same_as<T, std::nullptr_t> || std::same_as<T, std::vector<bool>>);

template <class T>
void append_host(std::string& text, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    text += std::to_string(static_cast<long long>(value));
  } else if constexpr (nest::detail::is_vector<T> || nest::detail::is_array<T>) {
    text += '[';
    for (const auto& each : value) append_host(text, static_cast<typename T::value_type>(each));
    text += ']';
  } else if constexpr (std::same_as<T, std::string>) {
    text += std::to_string(value.size()) + '"' + value;
  } else if constexpr (std::is_pointer_v<T> && !std::same_as<T, const char*>) {
    text += std::to_string(reinterpret_cast<std::uintptr_t>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    std::ostringstream exact;
    exact << std::hexfloat << value;
    text += exact.str();
  } else if constexpr (std::is_arithmetic_v<T>) {
    text += std::to_string(value);
  } else if constexpr (std::same_as<T, const char*>) {
    text += value;
  } else {
    std::ostringstream printed;
    printed << value;
    text += printed.str();
  }
  text += ',';
}

/// Collects tensors in order and, as text, host values and the sizes of containers.
template <class T>
void collect(const T& value, Arguments& to) {
  if constexpr (Handle<T>) {
    to.tensors.push_back(HandleArgument<T>::handle(value));
  } else if constexpr (HostValue<T>) {
    append_host(to.host, value);
  } else if constexpr (TensorLeaf<T>) {
    to.tensors.push_back(value);
  } else if constexpr (nest::detail::is_vector<T>) {
    to.host += '(' + std::to_string(value.size());
    for (const auto& each : value) collect(each, to);
    to.host += ')';
  } else if constexpr (nest::detail::is_map<T>) {
    to.host += '{';
    for (const auto& [key, each] : value) {
      append_host(to.host, key);
      collect(each, to);
    }
    to.host += '}';
  } else {
    static_assert(nest::detail::is_tuple<T> || nest::detail::is_array<T> || std::is_aggregate_v<T>,
                  "an argument of a function must be a tensor, a variable, a number, a string, an enumeration, a "
                  "pointer, or a structure of these");
    nest::detail::with_parts(value, [&](const auto&... part) { (collect(part, to), ...); });
  }
}

/// The value with the next tensors in its leaves.
template <class T>
T replaced(const T& value, const Tensor*& next) {
  if constexpr (Handle<T>) {
    return HandleArgument<T>::from_handle(*next++, value);
  } else if constexpr (HostValue<T>) {
    return value;
  } else if constexpr (TensorLeaf<T>) {
    return T(*next++);
  } else if constexpr (nest::detail::is_vector<T>) {
    T result;
    for (const auto& each : value) result.push_back(replaced(each, next));
    return result;
  } else if constexpr (nest::detail::is_map<T>) {
    T result;
    for (const auto& [key, each] : value) result.emplace_hint(result.end(), key, replaced(each, next));
    return result;
  } else {
    // Braces: from left to right.
    return nest::detail::with_parts(value, [&](const auto&... part) { return T{replaced(part, next)...}; });
  }
}

/// The parameters of a callable, where its type tells them: not for generic lambdas and overloads.
template <class T>
struct Parameters {
  static constexpr bool are_known = false;
};
template <class Result, class... Parameter>
struct Parameters<Result (*)(Parameter...)> {
  static constexpr bool are_known = true;
  using tuple = std::tuple<std::remove_cvref_t<Parameter>...>;
};
template <class Object, class Result, class... Parameter>
struct Parameters<Result (Object::*)(Parameter...)> : Parameters<Result (*)(Parameter...)> {};
template <class Object, class Result, class... Parameter>
struct Parameters<Result (Object::*)(Parameter...) const> : Parameters<Result (*)(Parameter...)> {};

template <class F>
struct ParametersOf : Parameters<F> {};
template <class F>
requires requires { &F::operator(); }
struct ParametersOf<F> : Parameters<decltype(&F::operator())> {};

/// The arguments as the callable's parameters take them, by value.
template <class F, class... Argument>
auto bound_arguments(const Argument&... argument) {
  if constexpr (ParametersOf<F>::are_known)
    return typename ParametersOf<F>::tuple(argument...);
  else
    return std::tuple<std::conditional_t<std::is_array_v<Argument>, std::string, Argument>...>(argument...);
}

}  // namespace capstan::detail
