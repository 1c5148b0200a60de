// Kernels of the elementwise operations of one argument.
#include "ops/math.h"

#include <cmath>
#include <complex>

#include "cpu/elementwise.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

struct Negate {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(x));
    else return static_cast<T>(-x);
  }
};
struct Square {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      const auto wide = static_cast<std::uint64_t>(x);
      return static_cast<T>(wide * wide);
    } else return static_cast<T>(x * x);
  }
};
// Half types are computed in float.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

struct Exp {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::exp(static_cast<Wide<T>>(x)));
  }
};
struct Log {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::log(static_cast<Wide<T>>(x)));
  }
};
struct Tanh {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::tanh(static_cast<Wide<T>>(x)));
  }
};
struct TanhGrad {
  template <class T>
  T operator()(T y, T dy) const {
    return static_cast<T>(static_cast<Wide<T>>(dy) * (Wide<T>(1) - static_cast<Wide<T>>(y) * static_cast<Wide<T>>(y)));
  }
};
struct Conj {
  template <class T>
  T operator()(T x) const {
    return std::conj(x);
  }
};

template <class T>
using NegateRows = UnaryRows<Negate, T>;
template <class T>
using SquareRows = UnaryRows<Square, T>;
template <class T>
using ExpRows = UnaryRows<Exp, T>;
template <class T>
using LogRows = UnaryRows<Log, T>;
template <class T>
using TanhRows = UnaryRows<Tanh, T>;
template <class T>
using TanhGradRows = BinaryRows<TanhGrad, T>;
template <class T>
using ConjRows = UnaryRows<Conj, T>;

using FloatingAndComplex = join_t<FloatingTypes, ComplexTypes>;

}  // namespace

KernelTable math_unary_kernels() {
  static const KernelRow rows[] = {
      {&neg_op, unary_kernels<NegateRows>(join_t<FloatingTypes, ComplexTypes, SignedTypes>{})},
      {&square_op, unary_kernels<SquareRows>(NumberTypes{})},
      {&exp_op, unary_kernels<ExpRows>(FloatingAndComplex{})},
      {&log_op, unary_kernels<LogRows>(FloatingAndComplex{})},
      {&tanh_op, unary_kernels<TanhRows>(FloatingAndComplex{})},
      {&tanh_grad_op, binary_kernels<TanhGradRows>(FloatingAndComplex{})},
      {&conj_op, unary_kernels<ConjRows>(ComplexTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
