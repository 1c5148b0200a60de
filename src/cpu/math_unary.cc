// Kernels of the elementwise operations of one argument: arithmetic, powers, rounding and tests.
#include <cmath>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

struct Negate {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(0u - static_cast<Wrapping<T>>(x));
    else
      return -x;
  }
};
// The magnitude of the smallest integer does not exist: it stays itself.
struct Absolute {
  template <class T>
  T operator()(T x) const {
    return x < 0 ? Negate{}(x) : x;
  }
};
struct Sign {
  template <class T>
  T operator()(T x) const {
    if constexpr (is_complex_v<T>)
      return x == T(0) ? T(0) : x / std::abs(x);
    else if constexpr (std::is_floating_point_v<T>)
      return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
    else
      return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Square {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(x));
    else
      return x * x;
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
struct ReciprocalGrad {
  template <class T>
  T operator()(T y, T dy) const {
    if constexpr (is_complex_v<T>)
      return -dy * std::conj(y * y);
    else
      return -dy * (y * y);
  }
};
struct SquareRoot {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct SquareRootGrad {
  template <class T>
  T operator()(T y, T dy) const {
    if constexpr (is_complex_v<T>)
      return T(0.5) * dy / std::conj(y);
    else
      return T(0.5) * dy / y;
  }
};
struct ReciprocalRoot {
  template <class T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
struct ReciprocalRootGrad {
  template <class T>
  T operator()(T y, T dy) const {
    if constexpr (is_complex_v<T>)
      return T(-0.5) * dy * std::conj(y * y * y);
    else
      return T(-0.5) * dy * (y * y * y);
  }
};

struct Floor {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct Ceil {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
// The processor's mode is "to nearest, halves to even".
struct Round {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::nearbyint(x);
  }
};
struct IsNan {
  template <class T>
  bool operator()(T x) const {
    return std::isnan(x);
  }
};
struct IsInf {
  template <class T>
  bool operator()(T x) const {
    return std::isinf(x);
  }
};
struct IsFinite {
  template <class T>
  bool operator()(T x) const {
    return std::isfinite(x);
  }
};

using FloatTable = VectorArithmetic<float>;
using DoubleTable = VectorArithmetic<double>;

}  // namespace

KernelTable math_unary_kernels() {
  static const KernelRow rows[] = {
      {&neg_op, vector_unary_kernels<Negate, &FloatTable::negative, &DoubleTable::negative>(
                    join_t<ComplexTypes, SignedTypes>{})},
      {&abs_op, vector_unary_kernels<Absolute, &FloatTable::absolute, &DoubleTable::absolute>(SignedTypes{})},
      {&sign_op, function_kernels<Sign>(join_t<FloatingAndComplexTypes, SignedTypes>{})},
      {&square_op,
       vector_unary_kernels<Square, &FloatTable::square, &DoubleTable::square>(join_t<ComplexTypes, IntegerTypes>{})},
      {&reciprocal_op,
       vector_unary_kernels<Reciprocal, &FloatTable::reciprocal, &DoubleTable::reciprocal>(ComplexTypes{})},
      {&inv_op, vector_unary_kernels<Reciprocal, &FloatTable::reciprocal, &DoubleTable::reciprocal>(ComplexTypes{})},
      {&reciprocal_grad_op, pair_kernels<ReciprocalGrad>(FloatingAndComplexTypes{})},
      {&inv_grad_op, pair_kernels<ReciprocalGrad>(FloatingAndComplexTypes{})},
      {&sqrt_op, vector_unary_kernels<SquareRoot, &FloatTable::square_root, &DoubleTable::square_root>(ComplexTypes{})},
      {&sqrt_grad_op, pair_kernels<SquareRootGrad>(FloatingAndComplexTypes{})},
      {&rsqrt_op, vector_unary_kernels<ReciprocalRoot, &FloatTable::reciprocal_root, &DoubleTable::reciprocal_root>(
                      ComplexTypes{})},
      {&rsqrt_grad_op, pair_kernels<ReciprocalRootGrad>(FloatingAndComplexTypes{})},
      {&floor_op, function_kernels<Floor>(FloatingTypes{})},
      {&ceil_op, function_kernels<Ceil>(FloatingTypes{})},
      {&round_op, function_kernels<Round>(join_t<FloatingTypes, SignedTypes>{})},
      {&rint_op, function_kernels<Round>(FloatingTypes{})},
      {&is_nan_op, test_kernels<IsNan>(FloatingTypes{})},
      {&is_inf_op, test_kernels<IsInf>(FloatingTypes{})},
      {&is_finite_op, test_kernels<IsFinite>(FloatingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
