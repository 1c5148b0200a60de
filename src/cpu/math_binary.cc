// Kernels of the elementwise arithmetic of two arguments, and of the sum of many.
#include <cmath>
#include <string>

#include "capstan/ops/math.h"
#include "cpu/arithmetic.h"
#include "cpu/element.h"
#include "cpu/tables.h"
#include "op/observer.h"
#include "ops/math.h"
#include "ops/tensor_list.h"

namespace capstan::cpu {
namespace {

struct Add {
  template <class T>
  T operator()(const T& x, const T& y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
    else
      return x + y;
  }
};
struct Subtract {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
    else
      return x - y;
  }
};
struct Multiply {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
    else
      return x * y;
  }
};
struct MultiplyNoNan {
  template <class T>
  T operator()(T x, T y) const {
    return y == T(0) ? T(0) : x * y;
  }
};
struct SquaredDifference {
  template <class T>
  T operator()(T x, T y) const {
    const T difference = Subtract{}(x, y);
    if constexpr (is_complex_v<T>)
      return std::conj(difference) * difference;
    else
      return Multiply{}(difference, difference);
  }
};

using FloatTable = VectorArithmetic<float>;
using DoubleTable = VectorArithmetic<double>;

// ---- AddN -----------------------------------------------------------------------------------------------------------

constexpr std::int64_t kAddNBlock = 4096;  // the partial sums stay in the nearest cache

/// The sum of the inputs' elements [begin, end).
template <class Rows, class T>
void add_all(const KernelContext& context, T* out, std::int64_t begin, std::int64_t end) {
  const std::int64_t n = end - begin;
  if (context.input_count() == 1) return void(std::copy_n(context.data<T>(0) + begin, n, out + begin));
  Rows::vv(context.data<T>(0) + begin, context.data<T>(1) + begin, out + begin, n);
  for (std::size_t i = 2; i < context.input_count(); ++i)
    Rows::vv(out + begin, context.data<T>(i) + begin, out + begin, n);
}

/// Half types keep the sum in float.
template <class Half>
void add_all_halves(const KernelContext& context, Half* out, std::int64_t begin, std::int64_t end) {
  float sum[kHalfChunk], term[kHalfChunk];
  for (; begin < end; begin += kHalfChunk) {
    const std::int64_t n = std::min(kHalfChunk, end - begin);
    widen(context.data<Half>(0) + begin, sum, n);
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      widen(context.data<Half>(i) + begin, term, n);
      vector_arithmetic<float>().add.vv(sum, term, sum, n);
    }
    narrow(sum, out + begin, n);
  }
}

template <class T>
using AddRows =
    std::conditional_t<std::is_same_v<T, float>, VectorBinaryRows<Add, &FloatTable::add, float>,
                       std::conditional_t<std::is_same_v<T, double>, VectorBinaryRows<Add, &DoubleTable::add, double>,
                                          BinaryRows<Add, T>>>;

template <class T>
void add_n_kernel(KernelContext& context) {
  T* out = context.make_output<T>(0);
  for_blocks(context.output(0).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += kAddNBlock) {
      const std::int64_t stop = std::min(begin + kAddNBlock, end);
      if constexpr (is_half<T>)
        add_all_halves(context, out, begin, stop);
      else
        add_all<AddRows<T>>(context, out, begin, stop);
    }
  });
}

/// Lists are added element by element; one that was never set counts as zeros.
void add_n_lists(KernelContext& context) {
  const PauseObservers silent;
  const auto first = list_in(context.input(0), "AddN");
  auto sums = first->elements();
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    const auto more = list_in(context.input(i), "AddN");
    if (more->size() != sums.size())
      context.fail("lists must have one length, got " + std::to_string(sums.size()) + " and " +
                   std::to_string(more->size()));
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const Tensor element = more->at(k);
      if (!sums[k].is_defined())
        sums[k] = element;
      else if (element.is_defined())
        sums[k] = add_n(std::vector<Tensor>{sums[k], element});
    }
  }
  context.set_output(0, list_tensor(first->with(std::move(sums))));
}

template <class... Types>
KernelSet add_n_kernels(TypeList<Types...>) {
  KernelSet kernels;
  kernels.set(DType::variant, add_n_lists);
  (kernels.set(dtype_of<Types>(), add_n_kernel<Types>), ...);
  return kernels;
}

KernelSet add_kernels() {
  KernelSet kernels =
      vector_binary_kernels<Add, &FloatTable::add, &DoubleTable::add>(join_t<ComplexTypes, IntegerTypes>{});
  return kernels;
}
/// Strings are C++ objects: the output's exist already, and elements are not reused.
KernelSet add_or_join_kernels() {
  return add_kernels().set(DType::string, binary_kernel<BinaryRows<Add, std::string>>);
}

}  // namespace

KernelTable math_binary_kernels() {
  using OtherNumbers = join_t<ComplexTypes, IntegerTypes>;
  static const KernelRow rows[] = {
      {&add_op, add_or_join_kernels()},
      {&add_v2_op, add_kernels()},
      {&sub_op, vector_binary_kernels<Subtract, &FloatTable::subtract, &DoubleTable::subtract>(OtherNumbers{})},
      {&mul_op, vector_binary_kernels<Multiply, &FloatTable::multiply, &DoubleTable::multiply>(OtherNumbers{})},
      {&mul_no_nan_op, pair_kernels<MultiplyNoNan>(FloatingAndComplexTypes{})},
      {&maximum_op, vector_binary_kernels<Larger, &FloatTable::maximum, &DoubleTable::maximum>(IntegerTypes{})},
      {&minimum_op, vector_binary_kernels<Smaller, &FloatTable::minimum, &DoubleTable::minimum>(IntegerTypes{})},
      {&squared_difference_op,
       vector_binary_kernels<SquaredDifference, &FloatTable::squared_difference, &DoubleTable::squared_difference>(
           join_t<ComplexTypes, TypeList<std::int32_t, std::int64_t>>{})},
      {&add_n_op, add_n_kernels(NumberTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
