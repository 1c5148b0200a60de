// Kernels of exponentials, logarithms and what is made of them.
#include <cmath>
#include <numbers>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

// The floating types take SIMD functions; these serve complex numbers.
struct Exp {
  template <class T>
  T operator()(T x) const { return std::exp(x); }
};
struct Log {
  template <class T>
  T operator()(T x) const { return std::log(x); }
};
/// e^(a + bi) - 1, whose real part is expm1(a) cos b - 2 sin^2(b / 2).
struct Expm1 {
  template <class T>
  T operator()(T x) const {
    const auto half_sine = std::sin(x.imag() / 2);
    const auto grown = std::expm1(x.real());
    return {grown * std::cos(x.imag()) - 2 * half_sine * half_sine, (grown + 1) * std::sin(x.imag())};
  }
};
/// log |1 + x| by its square minus 1, which keeps the digits of small x.
struct Log1p {
  template <class T>
  T operator()(T x) const {
    const auto a = x.real(), b = x.imag();
    if (std::abs(a) < 0.5 && std::abs(b) < 0.5) return {std::log1p(a * (a + 2) + b * b) / 2, std::atan2(b, 1 + a)};
    return std::log(T(1) + x);
  }
};
struct Tanh {
  template <class T>
  T operator()(T x) const { return std::tanh(x); }
};
struct TanhGrad {
  template <class T>
  T operator()(T y, T dy) const { return dy * (T(1) - y * y); }
};
struct Sigmoid {
  template <class T>
  T operator()(T x) const { return T(1) / (T(1) + std::exp(-x)); }
};
struct SigmoidGrad {
  template <class T>
  T operator()(T y, T dy) const { return dy * y * (T(1) - y); }
};

struct Erf {
  template <class T>
  T operator()(T x) const { return std::erf(x); }
};
struct Erfc {
  template <class T>
  T operator()(T x) const { return std::erfc(x); }
};
// std::lgamma writes the sign into a global variable, a race between threads.
struct LogGamma {
  float operator()(float x) const {
    int sign;
    return ::lgammaf_r(x, &sign);
  }
  double operator()(double x) const {
    int sign;
    return ::lgamma_r(x, &sign);
  }
};

/// Derivative of the logarithm of the gamma function.
struct Digamma {
  template <class T>
  T operator()(T x) const { return static_cast<T>(of(static_cast<double>(x))); }

  static double of(double x) {
    if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
    double result = 0;
    if (x <= 0) {
      // A pole at each whole number up to 0; between them the reflection psi(1 - x) - psi(x) = pi cot(pi x).
      if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
      const double fraction = x - std::nearbyint(x);
      result = -std::numbers::pi / std::tan(std::numbers::pi * fraction);
      x = 1 - x;
    }
    for (; x < 10; ++x) result -= 1 / x;  // psi(x + 1) = psi(x) + 1 / x
    // The asymptotic series; its coefficients are B_2k / 2k.
    const double z = 1 / (x * x);
    const double series = z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
    return result + std::log(x) - 0.5 / x - series;
  }
};

using FloatTable = VectorMath<float>;
using DoubleTable = VectorMath<double>;

}  // namespace

KernelTable math_exponential_kernels() {
  static const KernelRow rows[] = {
      {&exp_op, vector_unary_kernels<Exp, &FloatTable::exp, &DoubleTable::exp>(ComplexTypes{})},
      {&expm1_op, vector_unary_kernels<Expm1, &FloatTable::expm1, &DoubleTable::expm1>(ComplexTypes{})},
      {&log_op, vector_unary_kernels<Log, &FloatTable::log, &DoubleTable::log>(ComplexTypes{})},
      {&log1p_op, vector_unary_kernels<Log1p, &FloatTable::log1p, &DoubleTable::log1p>(ComplexTypes{})},
      {&tanh_op, vector_unary_kernels<Tanh, &FloatTable::tanh, &DoubleTable::tanh>(ComplexTypes{})},
      {&tanh_grad_op, vector_binary_kernels<TanhGrad, &FloatTable::tanh_grad, &DoubleTable::tanh_grad>(ComplexTypes{})},
      {&sigmoid_op, vector_unary_kernels<Sigmoid, &FloatTable::sigmoid, &DoubleTable::sigmoid>(ComplexTypes{})},
      {&sigmoid_grad_op, vector_binary_kernels<SigmoidGrad, &FloatTable::sigmoid_grad, &DoubleTable::sigmoid_grad>(ComplexTypes{})},
      {&erf_op, vector_unary_kernels<Erf, &FloatTable::erf, &DoubleTable::erf>(TypeList<>{})},
      {&erfc_op, function_kernels<Erfc>(FloatingTypes{})},
      {&lgamma_op, function_kernels<LogGamma>(FloatingTypes{})},
      {&digamma_op, function_kernels<Digamma>(FloatingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
