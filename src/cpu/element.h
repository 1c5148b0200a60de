// What the elementwise kernels share: the types they compute in, and rows of half types, float rows and SIMD functions.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/vector_functions.h"

namespace capstan::cpu {

template <class T>
inline constexpr bool is_complex_v = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// The unsigned type in which integers wrap around without undefined behaviour; at least as wide as unsigned int, so
/// that short types are not promoted to int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) <= sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

/// Half types pass through rows of float, some at a time.
inline constexpr std::int64_t kHalfChunk = 256;

template <class FloatRows, class Half>
struct HalfUnaryRows {
  using Input = Half;
  static constexpr bool kGivesFloat = std::is_same_v<typename FloatRows::Output, float>;
  using Output = std::conditional_t<kGivesFloat, Half, typename FloatRows::Output>;
  static void row(const Half* x, Output* out, std::int64_t n) {
    float buffer[kHalfChunk];
    for (std::int64_t i = 0; i < n; i += kHalfChunk) {
      const std::int64_t count = std::min(kHalfChunk, n - i);
      widen(x + i, buffer, count);
      if constexpr (kGivesFloat) {
        FloatRows::row(buffer, buffer, count);
        narrow(buffer, out + i, count);
      } else {
        FloatRows::row(buffer, out + i, count);
      }
    }
  }
};

template <class FloatRows, class Half>
struct HalfBinaryRows {
  using Input = Half;
  static constexpr bool kGivesFloat = std::is_same_v<typename FloatRows::Output, float>;
  using Output = std::conditional_t<kGivesFloat, Half, typename FloatRows::Output>;
  static Output one(Half x, Half y) { return static_cast<Output>(FloatRows::one(x, y)); }
  static void vv(const Half* x, const Half* y, Output* out, std::int64_t n) {
    float second[kHalfChunk];
    in_chunks(x, out, n, [&](std::int64_t at, float* first, auto* to, std::int64_t count) {
      widen(y + at, second, count);
      FloatRows::vv(first, second, to, count);
    });
  }
  static void vs(const Half* x, Half y, Output* out, std::int64_t n) {
    in_chunks(x, out, n, [&](std::int64_t, float* first, auto* to, std::int64_t count) {
      FloatRows::vs(first, static_cast<float>(y), to, count);
    });
  }
  static void sv(Half x, const Half* y, Output* out, std::int64_t n) {
    in_chunks(y, out, n, [&](std::int64_t, float* second, auto* to, std::int64_t count) {
      FloatRows::sv(static_cast<float>(x), second, to, count);
    });
  }

 private:
  template <class Body>
  static void in_chunks(const Half* x, Output* out, std::int64_t n, Body body) {
    float buffer[kHalfChunk];
    for (std::int64_t i = 0; i < n; i += kHalfChunk) {
      const std::int64_t count = std::min(kHalfChunk, n - i);
      widen(x + i, buffer, count);
      if constexpr (kGivesFloat) {
        body(i, buffer, buffer, count);
        narrow(buffer, out + i, count);
      } else {
        body(i, buffer, out + i, count);
      }
    }
  }
};

/// Rows of a function object: plain loops, half types through float.
template <class Function, class T, class Out = T>
using FunctionRows = std::conditional_t<
    is_half<T>, HalfUnaryRows<UnaryRows<Function, float, std::conditional_t<std::is_same_v<T, Out>, float, Out>>, T>,
    UnaryRows<Function, T, Out>>;
template <class Function, class T, class Out = T>
using PairRows = std::conditional_t<
    is_half<T>, HalfBinaryRows<BinaryRows<Function, float, std::conditional_t<std::is_same_v<T, Out>, float, Out>>, T>,
    BinaryRows<Function, T, Out>>;

/// Kernels of a function object for some element types.
template <class Function, class... Types>
constexpr KernelSet function_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), unary_kernel<FunctionRows<Function, Types>>), ...);
  return kernels;
}
template <class Function, class... Types>
constexpr KernelSet pair_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), binary_kernel<PairRows<Function, Types>>), ...);
  return kernels;
}
/// The same for functions whose result is bool.
template <class Function, class... Types>
constexpr KernelSet test_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), unary_kernel<FunctionRows<Function, Types, bool>>), ...);
  return kernels;
}
template <class Function, class... Types>
constexpr KernelSet relation_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), binary_kernel<PairRows<Function, Types, bool>>), ...);
  return kernels;
}

// ---- SIMD functions -------------------------------------------------------------------------------------------------

/// Which table a member pointer belongs to.
template <class T>
const VectorArithmetic<T>& table_of(const VectorArithmetic<T>*) {
  return vector_arithmetic<T>();
}
template <class T>
const VectorMath<T>& table_of(const VectorMath<T>*) {
  return vector_math<T>();
}
template <class Member>
struct MemberOf;
template <class Table, class Row>
struct MemberOf<Row Table::*> {
  using type = Table;
};
template <auto kMember>
const auto& vector_row() {
  using Table = typename MemberOf<std::remove_const_t<decltype(kMember)>>::type;
  return table_of(static_cast<const Table*>(nullptr)).*kMember;
}

template <auto kMember, class T>
struct VectorUnaryRows {
  using Input = T;
  using Output = T;
  static void row(const T* x, T* out, std::int64_t n) { vector_row<kMember>()(x, out, n); }
};

/// `Function` computes single elements, with the same result.
template <class Function, auto kMember, class T>
struct VectorBinaryRows {
  using Input = T;
  using Output = T;
  static T one(T x, T y) { return Function{}(x, y); }
  static void vv(const T* x, const T* y, T* out, std::int64_t n) { vector_row<kMember>().vv(x, y, out, n); }
  static void vs(const T* x, T y, T* out, std::int64_t n) { vector_row<kMember>().vs(x, y, out, n); }
  static void sv(T x, const T* y, T* out, std::int64_t n) { vector_row<kMember>().sv(x, y, out, n); }
};

/// The kernels of the four floating types from one entry of a table for float and one for double.
template <auto kFloat, auto kDouble>
constexpr KernelSet& add_vector_unary(KernelSet& kernels) {
  using FloatRows = VectorUnaryRows<kFloat, float>;
  kernels.set(DType::float32, unary_kernel<FloatRows>);
  kernels.set(DType::float64, unary_kernel<VectorUnaryRows<kDouble, double>>);
  kernels.set(DType::float16, unary_kernel<HalfUnaryRows<FloatRows, float16>>);
  kernels.set(DType::bfloat16, unary_kernel<HalfUnaryRows<FloatRows, bfloat16>>);
  return kernels;
}
template <class Function, auto kFloat, auto kDouble>
constexpr KernelSet& add_vector_binary(KernelSet& kernels) {
  using FloatRows = VectorBinaryRows<Function, kFloat, float>;
  kernels.set(DType::float32, binary_kernel<FloatRows>);
  kernels.set(DType::float64, binary_kernel<VectorBinaryRows<Function, kDouble, double>>);
  kernels.set(DType::float16, binary_kernel<HalfBinaryRows<FloatRows, float16>>);
  kernels.set(DType::bfloat16, binary_kernel<HalfBinaryRows<FloatRows, bfloat16>>);
  return kernels;
}
/// A function object for some types, and SIMD functions for the floating ones.
template <class Function, auto kFloat, auto kDouble, class... Others>
constexpr KernelSet vector_unary_kernels(TypeList<Others...> others) {
  KernelSet kernels = function_kernels<Function>(others);
  return add_vector_unary<kFloat, kDouble>(kernels);
}
template <class Function, auto kFloat, auto kDouble, class... Others>
constexpr KernelSet vector_binary_kernels(TypeList<Others...> others) {
  KernelSet kernels = pair_kernels<Function>(others);
  return add_vector_binary<Function, kFloat, kDouble>(kernels);
}

using FloatingAndComplexTypes = join_t<FloatingTypes, ComplexTypes>;

}  // namespace capstan::cpu
