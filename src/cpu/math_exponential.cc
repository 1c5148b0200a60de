// Kernels of exponentials, logarithms and what is made of them.
#include <cmath>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

// The floating types take SIMD functions; these serve complex numbers.
struct Exp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};
struct Log {
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
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
  T operator()(T x) const {
    return std::tanh(x);
  }
};
struct TanhGrad {
  template <class T>
  T operator()(T y, T dy) const {
    return dy * (T(1) - y * y);
  }
};
struct Sigmoid {
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};
struct SigmoidGrad {
  template <class T>
  T operator()(T y, T dy) const {
    return dy * y * (T(1) - y);
  }
};

struct Erf {
  template <class T>
  T operator()(T x) const {
    return std::erf(x);
  }
};
struct Erfc {
  template <class T>
  T operator()(T x) const {
    return std::erfc(x);
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
      {&sigmoid_grad_op,
       vector_binary_kernels<SigmoidGrad, &FloatTable::sigmoid_grad, &DoubleTable::sigmoid_grad>(ComplexTypes{})},
      {&erf_op, vector_unary_kernels<Erf, &FloatTable::erf, &DoubleTable::erf>(TypeList<>{})},
      {&erfc_op, function_kernels<Erfc>(FloatingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
