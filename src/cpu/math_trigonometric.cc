// Kernels of the trigonometric and hyperbolic functions and their inverses.
#include <cmath>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

struct Sin {
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};
struct Cos {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
struct Tan {
  template <class T>
  T operator()(T x) const {
    return std::tan(x);
  }
};
struct Asin {
  template <class T>
  T operator()(T x) const {
    return std::asin(x);
  }
};
struct Acos {
  template <class T>
  T operator()(T x) const {
    return std::acos(x);
  }
};
struct Atan {
  template <class T>
  T operator()(T x) const {
    return std::atan(x);
  }
};
struct Sinh {
  template <class T>
  T operator()(T x) const {
    return std::sinh(x);
  }
};
struct Cosh {
  template <class T>
  T operator()(T x) const {
    return std::cosh(x);
  }
};
struct Asinh {
  template <class T>
  T operator()(T x) const {
    return std::asinh(x);
  }
};
struct Acosh {
  template <class T>
  T operator()(T x) const {
    return std::acosh(x);
  }
};
struct Atanh {
  template <class T>
  T operator()(T x) const {
    return std::atanh(x);
  }
};

using FloatTable = VectorMath<float>;
using DoubleTable = VectorMath<double>;

}  // namespace

KernelTable math_trigonometric_kernels() {
  static const KernelRow rows[] = {
      {&sin_op, vector_unary_kernels<Sin, &FloatTable::sin, &DoubleTable::sin>(ComplexTypes{})},
      {&cos_op, vector_unary_kernels<Cos, &FloatTable::cos, &DoubleTable::cos>(ComplexTypes{})},
      {&tan_op, function_kernels<Tan>(FloatingAndComplexTypes{})},
      {&asin_op, function_kernels<Asin>(FloatingAndComplexTypes{})},
      {&acos_op, function_kernels<Acos>(FloatingAndComplexTypes{})},
      {&atan_op, function_kernels<Atan>(FloatingAndComplexTypes{})},
      {&sinh_op, function_kernels<Sinh>(FloatingAndComplexTypes{})},
      {&cosh_op, function_kernels<Cosh>(FloatingAndComplexTypes{})},
      {&asinh_op, function_kernels<Asinh>(FloatingAndComplexTypes{})},
      {&acosh_op, function_kernels<Acosh>(FloatingAndComplexTypes{})},
      {&atanh_op, function_kernels<Atanh>(FloatingAndComplexTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
