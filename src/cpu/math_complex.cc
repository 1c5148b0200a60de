// Kernels that take complex numbers apart and put them together.
#include <cmath>

#include "cpu/element.h"
#include "cpu/tables.h"
#include "ops/math.h"

namespace capstan::cpu {
namespace {

struct Conj {
  template <class T>
  T operator()(T x) const {
    return std::conj(x);
  }
};
struct Real {
  template <class T>
  auto operator()(T x) const {
    return x.real();
  }
};
struct Imag {
  template <class T>
  auto operator()(T x) const {
    return x.imag();
  }
};
struct Magnitude {
  template <class T>
  auto operator()(T x) const {
    return std::abs(x);
  }
};
struct Angle {
  template <class T>
  auto operator()(T x) const {
    return std::arg(x);
  }
};
struct MakeComplex {
  template <class T>
  std::complex<T> operator()(T re, T im) const {
    return {re, im};
  }
};

template <class Function>
constexpr KernelSet part_kernels() {
  KernelSet kernels;
  kernels.set(DType::complex64, unary_kernel<UnaryRows<Function, std::complex<float>, float>>);
  kernels.set(DType::complex128, unary_kernel<UnaryRows<Function, std::complex<double>, double>>);
  return kernels;
}

KernelSet complex_kernels() {
  KernelSet kernels;
  kernels.set(DType::float32, binary_kernel<BinaryRows<MakeComplex, float, std::complex<float>>>);
  kernels.set(DType::float64, binary_kernel<BinaryRows<MakeComplex, double, std::complex<double>>>);
  return kernels;
}

}  // namespace

KernelTable math_complex_kernels() {
  static const KernelRow rows[] = {
      {&conj_op, function_kernels<Conj>(ComplexTypes{})},
      {&real_op, part_kernels<Real>()},
      {&imag_op, part_kernels<Imag>()},
      {&complex_abs_op, part_kernels<Magnitude>()},
      {&angle_op, part_kernels<Angle>()},
      {&complex_op, complex_kernels()},
  };
  return rows;
}

}  // namespace capstan::cpu
