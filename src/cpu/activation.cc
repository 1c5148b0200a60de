// Kernels of the activation functions and their gradients.
#include "ops/activation.h"

#include <cmath>

#include "cpu/element.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

// The constants of Klambauer et al., for which layers keep mean 0 and variance 1.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

// Comparisons are such that NaN stays NaN.
struct Relu {
  template <class T>
  T operator()(T x) const {
    return x <= T(0) ? T(0) : x;
  }
};
struct ReluGrad {
  template <class T>
  T operator()(T dy, T x) const {
    return x > T(0) ? dy : T(0);
  }
};
struct Relu6 {
  template <class T>
  T operator()(T x) const {
    return x <= T(0) ? T(0) : x >= T(6) ? T(6) : x;
  }
};
struct Relu6Grad {
  template <class T>
  T operator()(T dy, T x) const {
    return x > T(0) && x < T(6) ? dy : T(0);
  }
};
struct EluGrad {
  template <class T>
  T operator()(T dy, T y) const {
    return y < T(0) ? dy * (y + T(1)) : dy;
  }
};
struct SeluGrad {
  template <class T>
  T operator()(T dy, T y) const {
    return y < T(0) ? dy * (y + T(kSeluScaleAlpha)) : dy * T(kSeluScale);
  }
};
struct Softsign {
  template <class T>
  T operator()(T x) const {
    return x / (T(1) + std::abs(x));
  }
};
struct SoftsignGrad {
  template <class T>
  T operator()(T dy, T x) const {
    const T one_up = T(1) + std::abs(x);
    return dy / (one_up * one_up);
  }
};

// ---- functions with an exponential: SIMD functions over short stretches --------------------------------------------

constexpr std::int64_t kStretch = 256;

/// Rows of `Function`, which computes up to kStretch elements.
template <class Function, class T>
struct StretchRows {
  using Input = T;
  using Output = T;
  static void row(const T* x, T* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kStretch) Function::compute(x + i, out + i, std::min(kStretch, n - i));
  }
};

/// e^x - 1 below zero, into `out`.
template <class T>
void expm1_below_zero(const T* x, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] > T(0) ? T(0) : x[i];
  vector_math<T>().expm1(out, out, n);
}
struct Elu {
  template <class T>
  static void compute(const T* x, T* out, std::int64_t n) {
    T low[kStretch];
    expm1_below_zero(x, low, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] > T(0) ? x[i] : low[i];
  }
};
struct Selu {
  template <class T>
  static void compute(const T* x, T* out, std::int64_t n) {
    T low[kStretch];
    expm1_below_zero(x, low, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] > T(0) ? T(kSeluScale) * x[i] : T(kSeluScaleAlpha) * low[i];
  }
};
/// max(x, 0) + log(1 + e^-|x|): nothing overflows.
struct Softplus {
  template <class T>
  static void compute(const T* x, T* out, std::int64_t n) {
    T low[kStretch];
    for (std::int64_t i = 0; i < n; ++i) low[i] = -std::abs(x[i]);
    vector_math<T>().exp(low, low, n);
    vector_math<T>().log1p(low, low, n);
    for (std::int64_t i = 0; i < n; ++i) out[i] = (x[i] > T(0) ? x[i] : T(0)) + low[i];
  }
};

template <class T>
struct SoftplusGradRows {
  using Input = T;
  using Output = T;
  static T one(T dy, T x) {
    T out;
    vv(&dy, &x, &out, 1);
    return out;
  }
  static void vv(const T* dy, const T* x, T* out, std::int64_t n) {
    T slope[kStretch];
    for (std::int64_t i = 0; i < n; i += kStretch) {
      const std::int64_t count = std::min(kStretch, n - i);
      vector_math<T>().sigmoid(x + i, slope, count);
      vector_arithmetic<T>().multiply.vv(dy + i, slope, out + i, count);
    }
  }
  // The shapes are equal: only `vv` is asked for.
  static void vs(const T* dy, T x, T* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = one(dy[i], x);
  }
  static void sv(T dy, const T* x, T* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = one(dy, x[i]);
  }
};

template <class Function>
KernelSet stretch_kernels() {
  KernelSet kernels;
  kernels.set(DType::float32, unary_kernel<StretchRows<Function, float>>);
  kernels.set(DType::float64, unary_kernel<StretchRows<Function, double>>);
  kernels.set(DType::float16, unary_kernel<HalfUnaryRows<StretchRows<Function, float>, float16>>);
  kernels.set(DType::bfloat16, unary_kernel<HalfUnaryRows<StretchRows<Function, float>, bfloat16>>);
  return kernels;
}
KernelSet softplus_grad_kernels() {
  KernelSet kernels;
  kernels.set(DType::float32, binary_kernel<SoftplusGradRows<float>>);
  kernels.set(DType::float64, binary_kernel<SoftplusGradRows<double>>);
  kernels.set(DType::float16, binary_kernel<HalfBinaryRows<SoftplusGradRows<float>, float16>>);
  kernels.set(DType::bfloat16, binary_kernel<HalfBinaryRows<SoftplusGradRows<float>, bfloat16>>);
  return kernels;
}

// ---- leaky relu: the slope is an attribute --------------------------------------------------------------------------

/// The value (input 0) where the features (the last input) are positive, alpha times it elsewhere.
template <class T>
void leaky_kernel(KernelContext& context) {
  using Wide = Accumulator<T>;
  const auto alpha = static_cast<Wide>(context.attributes<LeakyReluAttributes>().alpha);
  const T* value = context.data<T>(0);
  const T* features = context.data<T>(context.input_count() - 1);
  T* out = context.make_output_over<T>(0, 0);
  for_blocks(context.output(0).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Wide v = value[i];
      out[i] = static_cast<T>(static_cast<Wide>(features[i]) > 0 ? v : alpha * v);
    }
  });
}

template <class... Types>
KernelSet leaky_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), leaky_kernel<Types>), ...);
  return kernels;
}

using FloatTable = VectorArithmetic<float>;
using DoubleTable = VectorArithmetic<double>;

}  // namespace

KernelTable activation_kernels() {
  static const KernelRow rows[] = {
      {&relu_op, vector_unary_kernels<Relu, &FloatTable::relu, &DoubleTable::relu>(IntegerTypes{})},
      {&relu_grad_op, vector_binary_kernels<ReluGrad, &FloatTable::relu_grad, &DoubleTable::relu_grad>(IntegerTypes{})},
      {&relu6_op, function_kernels<Relu6>(RealTypes{})},
      {&relu6_grad_op, pair_kernels<Relu6Grad>(RealTypes{})},
      {&elu_op, stretch_kernels<Elu>()},
      {&elu_grad_op, pair_kernels<EluGrad>(FloatingTypes{})},
      {&selu_op, stretch_kernels<Selu>()},
      {&selu_grad_op, pair_kernels<SeluGrad>(FloatingTypes{})},
      {&leaky_relu_op, leaky_kernels(FloatingTypes{})},
      {&leaky_relu_grad_op, leaky_kernels(FloatingTypes{})},
      {&softplus_op, stretch_kernels<Softplus>()},
      {&softplus_grad_op, softplus_grad_kernels()},
      {&softsign_op, function_kernels<Softsign>(FloatingTypes{})},
      {&softsign_grad_op, pair_kernels<SoftsignGrad>(FloatingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
