// Kernels of the reductions.
#include "cpu/reduce.h"

#include <algorithm>
#include <complex>
#include <limits>

#include "cpu/elementwise.h"
#include "cpu/tables.h"
#include "ops/reduce.h"

namespace capstan::cpu {

ReducePlan::ReducePlan(const Shape& input, const Tensor& axes) {
  std::vector<bool> is_reduced(static_cast<std::size_t>(input.rank()));
  for (std::int64_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t axis = axes.dtype() == DType::int32 ? axes.values<std::int32_t>()[at] : axes.values<std::int64_t>()[at];
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + input.rank() : axis)] = true;
  }
  for (int i = 0; i < input.rank(); ++i) {
    const bool reduced = is_reduced[static_cast<std::size_t>(i)];
    if (reduced) reduced_count *= input[i];
    if (!dims.empty() && dims.back().is_reduced == reduced) dims.back().size *= input[i];
    else dims.push_back({input[i], reduced});
  }
}

namespace {

// Sums are kept in a wider type where that is cheap, so that long half-precision sums stay right.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

/// Adds up in a tree of blocks: the error grows with the logarithm of the count, and the order never depends on threads.
template <class T>
Accumulator<T> pairwise_sum(const T* x, std::int64_t n) {
  constexpr std::int64_t kLeaf = 128;
  if (n <= kLeaf) {
    Accumulator<T> partial[8] = {};
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; ++k) partial[k] += static_cast<Accumulator<T>>(x[i + k]);
    Accumulator<T> sum = ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
                         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
    for (; i < n; ++i) sum += static_cast<Accumulator<T>>(x[i]);
    return sum;
  }
  const std::int64_t half = (n / 2 + kLeaf - 1) / kLeaf * kLeaf;
  return static_cast<Accumulator<T>>(pairwise_sum(x, half) + pairwise_sum(x + half, n - half));
}

/// Sums over the plan's reduced dimensions, one dimension at a time into `out`, which starts at zero.
template <class T>
void sum_into(const ReducePlan& plan, std::size_t level, const T* x, std::int64_t x_step, Accumulator<T>* out,
              std::int64_t out_step) {
  const auto& dim = plan.dims[level];
  const std::int64_t x_inner = x_step / dim.size;
  const bool is_last = level + 1 == plan.dims.size();
  if (is_last && dim.is_reduced) {
    *out += pairwise_sum(x, dim.size);
    return;
  }
  if (is_last) {
    for (std::int64_t i = 0; i < dim.size; ++i) out[i] += static_cast<Accumulator<T>>(x[i]);
    return;
  }
  const std::int64_t out_inner = dim.is_reduced ? out_step : out_step / dim.size;
  for (std::int64_t i = 0; i < dim.size; ++i)
    sum_into(plan, level + 1, x + i * x_inner, x_inner, out + (dim.is_reduced ? 0 : i * out_inner), out_inner);
}

template <class T>
void add_up(KernelContext& context, const ReducePlan& plan, Accumulator<T>* sums) {
  const std::int64_t count = context.output(0).size();
  std::fill_n(sums, count, Accumulator<T>(0));
  if (context.input(0).size() == 0) return;
  if (plan.dims.empty()) *sums = static_cast<Accumulator<T>>(*context.data<T>(0));
  else sum_into(plan, 0, context.data<T>(0), context.input(0).size(), sums, count);
}

template <class T>
T mean_of(Accumulator<T> sum, std::int64_t count) {
  if constexpr (std::is_integral_v<T>) return count ? static_cast<T>(sum / static_cast<T>(count)) : T(0);
  else if constexpr (std::is_same_v<Accumulator<T>, T>) return sum / static_cast<T>(count);
  else return static_cast<T>(sum / static_cast<float>(count));
}

template <class T, bool kMean>
void sum_kernel(KernelContext& context) {
  const ReducePlan plan(context.input(0).shape(), context.input(1));
  T* out = context.make_output<T>(0);
  const std::int64_t count = context.output(0).size();
  if constexpr (std::is_same_v<Accumulator<T>, T>) {
    add_up<T>(context, plan, out);
    if constexpr (kMean)
      for (std::int64_t i = 0; i < count; ++i) out[i] = mean_of<T>(out[i], plan.reduced_count);
  } else {
    std::vector<Accumulator<T>> sums(static_cast<std::size_t>(count));
    add_up<T>(context, plan, sums.data());
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = kMean ? mean_of<T>(sums[static_cast<std::size_t>(i)], plan.reduced_count)
                     : T(sums[static_cast<std::size_t>(i)]);
  }
}

template <bool kMean, class... Types>
KernelSet sum_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), sum_kernel<Types, kMean>), ...);
  return kernels;
}

}  // namespace

KernelTable reduce_kernels() {
  static const KernelRow rows[] = {
      {&sum_op, sum_kernels<false>(NumberTypes{})},
      {&mean_op, sum_kernels<true>(NumberTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
