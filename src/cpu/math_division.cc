// Kernels of divisions and their remainders.
#include <cmath>
#include <limits>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

// Integer functions here are called with y != 0 only. The one quotient that does not exist is that of the minimum by
// -1: the processor would trap. It wraps around to the minimum, with remainder 0.
template <class T>
bool is_minus_one(T y) {
  if constexpr (std::is_signed_v<T>)
    return y == -1;
  else
    return false;
}

struct TruncateDivide {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return is_minus_one(y) ? static_cast<T>(0u - static_cast<Wrapping<T>>(x)) : static_cast<T>(x / y);
    else
      return std::trunc(x / y);
  }
};
struct TruncateRemainder {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return is_minus_one(y) ? T(0) : static_cast<T>(x % y);
    else
      return std::fmod(x, y);
  }
};
struct Divide {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return TruncateDivide{}(x, y);
    else
      return x / y;
  }
};
struct DivideNoNan {
  template <class T>
  T operator()(T x, T y) const {
    return y == T(0) ? T(0) : x / y;
  }
};
struct FloorDivide {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      const T quotient = TruncateDivide{}(x, y);
      const bool is_inexact = TruncateRemainder{}(x, y) != 0;
      return is_inexact && (x < 0) != (y < 0) ? static_cast<T>(quotient - 1) : quotient;
    } else {
      return std::floor(x / y);
    }
  }
};
struct FloorRemainder {
  template <class T>
  T operator()(T x, T y) const {
    const T remainder = TruncateRemainder{}(x, y);
    return remainder != 0 && (remainder < 0) != (y < 0) ? static_cast<T>(remainder + y) : remainder;
  }
};

template <class T>
bool has_zero(const T* y, std::int64_t n) {
  bool found = false;
  for (std::int64_t i = 0; i < n; ++i) found |= y[i] == 0;
  return found;
}

/// Looks for zeros before anything is written. Nothing is divided if the other argument has no element.
template <class Function, class T>
void integer_kernel(KernelContext& context) {
  if (context.output_spec(0).shape.num_elements() > 0 && has_zero(context.data<T>(1), context.input(1).size()))

    context.fail("integer division by zero: 'y' of shape " + context.input(1).shape().to_string() +
                 " has an element 0");
  binary_kernel<BinaryRows<Function, T>>(context);
}

template <class Function, class... Integers>
KernelSet& add_integers(KernelSet& kernels, TypeList<Integers...>) {
  (kernels.set(dtype_of<Integers>(), integer_kernel<Function, Integers>), ...);
  return kernels;
}
template <class Function, class Integers>
KernelSet division_kernels(Integers integers) {
  KernelSet kernels = pair_kernels<Function>(FloatingTypes{});
  return add_integers<Function>(kernels, integers);
}

KernelSet quotient_kernels() {
  return vector_binary_kernels<Divide, &VectorArithmetic<float>::divide, &VectorArithmetic<double>::divide>(
      ComplexTypes{});
}
KernelSet old_quotient_kernels() {
  KernelSet kernels = quotient_kernels();
  return add_integers<Divide>(kernels, IntegerTypes{});
}

}  // namespace

KernelTable math_division_kernels() {
  using LongIntegers = TypeList<std::int32_t, std::int64_t>;
  static const KernelRow rows[] = {
      {&real_div_op, quotient_kernels()},
      {&div_op, old_quotient_kernels()},
      {&div_no_nan_op, pair_kernels<DivideNoNan>(FloatingAndComplexTypes{})},
      {&floor_div_op, division_kernels<FloorDivide>(IntegerTypes{})},
      {&truncate_div_op, division_kernels<TruncateDivide>(IntegerTypes{})},
      {&floor_mod_op, division_kernels<FloorRemainder>(IntegerTypes{})},
      {&truncate_mod_op, division_kernels<TruncateRemainder>(LongIntegers{})},
      {&mod_op, division_kernels<TruncateRemainder>(LongIntegers{})},
  };
  return rows;
}

}  // namespace capstan::cpu
