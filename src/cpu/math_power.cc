// Kernels of powers, of products with logarithms, and of the angle of a point.
#include <cmath>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

/// Integers by repeated squaring, wrapping around; called with y >= 0 only.
struct Power {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      Wrapping<T> result = 1, base = static_cast<Wrapping<T>>(x);
      for (auto rest = static_cast<std::make_unsigned_t<T>>(y); rest; rest = static_cast<decltype(rest)>(rest >> 1)) {
        if (rest & 1) result *= base;
        base *= base;
      }
      return static_cast<T>(result);
    } else if constexpr (is_complex_v<T>) {
      return y == T(0) ? T(1) : std::pow(x, y);
    } else {
      return std::pow(x, y);
    }
  }
};
struct Atan2 {
  template <class T>
  T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};
struct XLogY {
  template <class T>
  T operator()(T x, T y) const {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct XDivY {
  template <class T>
  T operator()(T x, T y) const {
    return x == T(0) ? T(0) : x / y;
  }
};
struct XLog1pY {
  template <class T>
  T operator()(T x, T y) const {
    if (x == T(0)) return T(0);
    if constexpr (is_complex_v<T>)
      return x * std::log(T(1) + y);
    else
      return x * std::log1p(y);
  }
};

/// x^2 and x^1 with one exponent for all need no logarithm.
template <class T>
struct PowerRows : BinaryRows<Power, T> {
  static void vs(const T* x, T y, T* out, std::int64_t n) {
    if (y == T(2))
      vector_arithmetic<T>().square(x, out, n);
    else if (y == T(1))
      std::copy_n(x, x == out ? 0 : n, out);
    else
      BinaryRows<Power, T>::vs(x, y, out, n);
  }
};

template <class T>
void integer_power_kernel(KernelContext& context) {
  const T* y = context.data<T>(1);
  bool has_negative = false;
  for (std::int64_t i = 0; i < context.input(1).size(); ++i) has_negative |= y[i] < 0;
  if (has_negative && context.output_spec(0).shape.num_elements() > 0)

    context.fail("integers to negative integer powers are not integers: 'y' of shape " +
                 context.input(1).shape().to_string() + " has a negative element; use a floating type");
  binary_kernel<BinaryRows<Power, T>>(context);
}

template <class... Integers>
KernelSet power_kernels(TypeList<Integers...>) {
  KernelSet kernels = pair_kernels<Power>(join_t<TypeList<float16, bfloat16>, ComplexTypes>{});
  kernels.set(DType::float32, binary_kernel<PowerRows<float>>);
  kernels.set(DType::float64, binary_kernel<PowerRows<double>>);
  (kernels.set(dtype_of<Integers>(), integer_power_kernel<Integers>), ...);
  return kernels;
}

}  // namespace

KernelTable math_power_kernels() {
  static const KernelRow rows[] = {
      {&pow_op, power_kernels(SignedTypes{})},
      {&atan2_op, pair_kernels<Atan2>(FloatingTypes{})},
      {&xlogy_op, pair_kernels<XLogY>(FloatingAndComplexTypes{})},
      {&xdivy_op, pair_kernels<XDivY>(FloatingAndComplexTypes{})},
      {&xlog1py_op, pair_kernels<XLog1pY>(FloatingAndComplexTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
