// Kernels of the reductions.
#include "cpu/reduce.h"

#include <cmath>

#include "cpu/elementwise.h"
#include "cpu/tables.h"
#include "ops/reduce.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"

namespace capstan::cpu {

ReducePlan::ReducePlan(const Shape& input, const Tensor& axes) {
  std::vector<bool> is_reduced(static_cast<std::size_t>(input.rank()));
  for (std::int64_t axis : integers_of(axes))
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + input.rank() : axis)] = true;
  for (int i = 0; i < input.rank(); ++i) {
    const bool reduced = is_reduced[static_cast<std::size_t>(i)];
    if (reduced) reduced_count = multiply_counts(reduced_count, input[i]);
    if (input[i] == 1) continue;
    if (!dims.empty() && dims.back().is_reduced == reduced)
      dims.back().size = multiply_counts(dims.back().size, input[i]);
    else
      dims.push_back({input[i], reduced});
  }
}

namespace {

struct Converting {
  template <class Value, class In>
  static Value load(In x) {
    return static_cast<Value>(x);
  }
};
struct SumOf : WrappingAdd, Converting {
  static constexpr Fold kFold = Fold::sum;
};
struct ProductOf : WrappingMultiply, Converting {
  static constexpr Fold kFold = Fold::product;
};
struct MaximumOf : Larger, Converting {
  static constexpr Fold kFold = Fold::larger;
};
struct MinimumOf : Smaller, Converting {
  static constexpr Fold kFold = Fold::smaller;
};
struct SumOfSquares : WrappingAdd {
  static constexpr Fold kFold = Fold::squares;
  template <class Value, class In>
  static Value load(In x) {
    const auto value = static_cast<Value>(x);
    if constexpr (std::is_same_v<Value, std::complex<float>> || std::is_same_v<Value, std::complex<double>>)
      return value * std::conj(value);
    else
      return WrappingMultiply{}(value, value);
  }
};
struct AllOf : Converting {
  static constexpr Fold kFold = Fold::none;
  bool operator()(bool x, bool y) const { return x && y; }
  template <class Value>
  static Value identity() {
    return true;
  }
};
struct AnyOf : Converting {
  static constexpr Fold kFold = Fold::none;
  bool operator()(bool x, bool y) const { return x || y; }
  template <class Value>
  static Value identity() {
    return false;
  }
};

// What becomes of a reduced value in the end.
struct AsIs {
  template <class Value>
  Value operator()(Value value, std::int64_t) const {
    return value;
  }
};
struct DividedByCount {
  template <class Value>
  Value operator()(Value sum, std::int64_t count) const {
    if constexpr (std::is_unsigned_v<Value>)
      return count ? static_cast<Value>(sum / static_cast<std::uint64_t>(count)) : Value(0);
    else if constexpr (std::is_integral_v<Value>)
      return count ? static_cast<Value>(sum / count) : Value(0);
    else if constexpr (std::is_floating_point_v<Value>)
      return sum / static_cast<Value>(count);
    else
      return sum / static_cast<typename Value::value_type>(count);
  }
};
struct SquareRoot {
  template <class Value>
  Value operator()(Value sum, std::int64_t) const {
    if constexpr (std::is_integral_v<Value>)
      return static_cast<Value>(std::sqrt(static_cast<double>(std::max(sum, Value(0)))));
    else
      return std::sqrt(sum);
  }
};

/// The type in which values are combined: float for halves; 64 bits for means of integers, whose sum must not wrap.
template <class Finish, class T>
struct Combined {
  using type = Accumulator<T>;
};
template <class T>
requires std::is_integral_v<T>
struct Combined<DividedByCount, T> {
  using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};

template <class Reducer, class Finish, class T>
void reduce_kernel(KernelContext& context) {
  const ReducePlan plan(context.input(0).shape(), context.input(1));
  const T* x = context.data<T>(0);
  T* out = context.make_output<T>(0);
  const std::int64_t count = context.output(0).size();
  const auto finish = [&](const auto* values) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(Finish{}(values[i], plan.reduced_count));
  };
  using Value = typename Combined<Finish, T>::type;
  if constexpr (!std::is_same_v<Value, T>) {
    const std::unique_ptr<Value[]> values(new Value[static_cast<std::size_t>(count)]);
    reduce<Reducer, T, Value>(plan, x, context.input(0).size(), values.get(), count);
    finish(values.get());
  } else {
    reduce<Reducer, T, T>(plan, x, context.input(0).size(), out, count);
    if constexpr (!std::is_same_v<Finish, AsIs>) finish(out);
  }
}

template <class Reducer, class Finish, class... Types>
KernelSet reduce_kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), reduce_kernel<Reducer, Finish, Types>), ...);
  return kernels;
}

/// The place of the best element along an axis; the first of equal ones.
template <class Better, class T, class Index>
void arg_rows(KernelContext& context, std::int64_t outer, std::int64_t n, std::int64_t inner) {
  const T* x = context.data<T>(0);
  Index* out = context.make_output<Index>(0);
  for_blocks(outer * inner, std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(n, 1)),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i) {
                 const T* at = x + i / inner * n * inner + i % inner;
                 std::int64_t best = 0;
                 for (std::int64_t k = 1; k < n; ++k)
                   if (Better{}(at[k * inner], at[best * inner])) best = k;
                 out[i] = static_cast<Index>(best);
               }
             });
}

struct Greater {
  template <class T>
  bool operator()(T x, T y) const {
    return x > y;
  }
};
struct Less {
  template <class T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};

template <class Better, class T>
void arg_kernel(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  std::int64_t axis = integers_of(context.input(1))[0];
  if (axis < 0) axis += shape.rank();
  const int at = static_cast<int>(axis);
  const std::int64_t outer = count_of(shape, 0, at), n = shape[at], inner = count_of(shape, at + 1, shape.rank());
  switch (context.output_spec(0).dtype) {
    case DType::int16:
      return arg_rows<Better, T, std::int16_t>(context, outer, n, inner);
    case DType::uint16:
      return arg_rows<Better, T, std::uint16_t>(context, outer, n, inner);
    case DType::int32:
      return arg_rows<Better, T, std::int32_t>(context, outer, n, inner);
    default:
      return arg_rows<Better, T, std::int64_t>(context, outer, n, inner);
  }
}

template <class Better, class... Types>
KernelSet arg_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), arg_kernel<Better, Types>), ...);
  return kernels;
}

}  // namespace

KernelTable reduce_kernels() {
  using BoolAndReal = join_t<RealTypes, TypeList<bool>>;
  static const KernelRow rows[] = {
      {&sum_op, reduce_kernels_of<SumOf, AsIs>(NumberTypes{})},
      {&mean_op, reduce_kernels_of<SumOf, DividedByCount>(NumberTypes{})},
      {&prod_op, reduce_kernels_of<ProductOf, AsIs>(NumberTypes{})},
      {&max_op, reduce_kernels_of<MaximumOf, AsIs>(RealTypes{})},
      {&min_op, reduce_kernels_of<MinimumOf, AsIs>(RealTypes{})},
      {&euclidean_norm_op, reduce_kernels_of<SumOfSquares, SquareRoot>(NumberTypes{})},
      {&all_op, any_type(reduce_kernel<AllOf, AsIs, bool>)},
      {&any_op, any_type(reduce_kernel<AnyOf, AsIs, bool>)},
      {&arg_max_op, arg_kernels<Greater>(BoolAndReal{})},
      {&arg_min_op, arg_kernels<Less>(BoolAndReal{})},
  };
  return rows;
}

}  // namespace capstan::cpu
