// Kernels of the gamma function's logarithm and its derivatives, computed in double.
#include "ops/math_gamma.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "cpu/element.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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

double digamma(double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  double result = 0;
  if (x <= 0) {
    // A pole at each whole number up to 0; between them the reflection psi(x) = psi(1 - x) - pi cot(pi x).
    if (x == std::floor(x)) return kNaN;
    result = -std::numbers::pi / std::tan(std::numbers::pi * (x - std::nearbyint(x)));
    x = 1 - x;
  }
  for (; x < 10; ++x) result -= 1 / x;  // psi(x + 1) = psi(x) + 1 / x
  // The asymptotic series; its coefficients are B_2k / 2k.
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}

/// The sum of (q + k)^-x over k >= 0: its first terms, and the rest by Euler's and Maclaurin's formula.
double zeta(double x, double q) {
  if (std::isnan(x) || std::isnan(q) || x < 1) return kNaN;
  if (x == 1) return kInfinity;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (x != std::floor(x) || q < -1e6) return kNaN;  // not real; or too many terms
  }
  double sum = 0;
  for (; q < 10; ++q) sum += std::pow(q, -x);
  // B_2j / (2j)!
  constexpr double kCoefficients[] = {
      1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600};
  const double power = std::pow(q, -x);
  if (power == 0) return sum + std::pow(q, 1 - x) / (x - 1);
  sum += power * q / (x - 1) + power / 2;
  double term = power / q * x;
  for (int j = 0; j < 7; ++j) {
    sum += kCoefficients[j] * term;
    term *= (x + 2 * j + 1) * (x + 2 * j + 2) / (q * q);
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n == 0) return digamma(x);
  if (n < 0 || n != std::floor(n)) return kNaN;
  if (x == kInfinity) return 0;
  int sign;
  const double factorial = std::exp(::lgamma_r(n + 1, &sign));
  return (std::fmod(n, 2) == 0 ? -1 : 1) * factorial * zeta(n + 1, x);
}

struct Digamma {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(digamma(static_cast<double>(x)));
  }
};
struct Polygamma {
  template <class T>
  T operator()(T n, T x) const {
    return static_cast<T>(polygamma(static_cast<double>(n), static_cast<double>(x)));
  }
};
struct Zeta {
  template <class T>
  T operator()(T x, T q) const {
    return static_cast<T>(zeta(static_cast<double>(x), static_cast<double>(q)));
  }
};

}  // namespace

KernelTable math_gamma_kernels() {
  static const KernelRow rows[] = {
      {&lgamma_op, function_kernels<LogGamma>(FloatingTypes{})},
      {&digamma_op, function_kernels<Digamma>(FloatingTypes{})},
      {&polygamma_op, pair_kernels<Polygamma>(TypeList<float, double>{})},
      {&zeta_op, pair_kernels<Zeta>(TypeList<float, double>{})},
  };
  return rows;
}

}  // namespace capstan::cpu
