// Arithmetic of reductions: integers wrap around without undefined behaviour, half types are computed in float.
#pragma once

#include <complex>
#include <limits>
#include <type_traits>

#include "capstan/tensor/dtype.h"

namespace capstan::cpu {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The type in which values of `T` are computed with and summed up.
template <class T>
using Accumulator = std::conditional_t<is_half<T>, float, T>;

struct WrappingAdd {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) + static_cast<std::make_unsigned_t<T>>(y));
    else
      return x + y;
  }
  template <class T>
  static T identity() {
    return T(0);
  }
};

struct WrappingMultiply {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)  // in 64 bits: short types would be promoted to int, which may overflow
      return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    else
      return x * y;
  }
  template <class T>
  static T identity() {
    return T(1);
  }
};

/// The larger one; NaN if either is.
struct Larger {
  template <class T>
  T operator()(T x, T y) const {
    return x > y || x != x ? x : y;
  }
  template <class T>
  static T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
};

/// The smaller one; NaN if either is.
struct Smaller {
  template <class T>
  T operator()(T x, T y) const {
    return x < y || x != x ? x : y;
  }
  template <class T>
  static T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
};

}  // namespace capstan::cpu
