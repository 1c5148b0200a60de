// Kernels of the segment reductions.
#include "ops/segment.h"

#include <algorithm>
#include <limits>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/indices.h"
#include "cpu/tables.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

/// The segment numbers as 64-bit numbers, all below `limit`.
std::vector<std::int64_t> checked_ids(const KernelContext& context, std::int64_t limit) {
  std::vector<std::int64_t> ids = integers_of(context.input(1));
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= limit)
      fail_index(context, "segment_ids", context.input(1).shape(), static_cast<std::int64_t>(i), ids[i], limit);
  return ids;
}

/// Combines row after row into its segment. Threads take segments, and each goes through all rows in their order, so
/// the result does not depend on how many there are.
template <class Combine, class T>
void combine_rows(const T* data, const std::vector<std::int64_t>& ids, std::int64_t inner, std::int64_t segments,
                  Accumulator<T>* out) {
  std::fill_n(out, segments * inner, Combine::template identity<Accumulator<T>>());
  const auto rows = static_cast<std::int64_t>(ids.size());
  constexpr std::int64_t kParts = 16;
  const bool is_worth_threads = inner >= 16 && rows * inner > 4 * kElementsPerBlock;
  const std::int64_t block = is_worth_threads ? (segments + kParts - 1) / kParts : segments;
  for_blocks(segments, block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t id = ids[static_cast<std::size_t>(row)];
      if (id < begin || id >= end) continue;
      const T* from = data + row * inner;
      Accumulator<T>* to = out + id * inner;
      for (std::int64_t i = 0; i < inner; ++i) to[i] = Combine{}(to[i], static_cast<Accumulator<T>>(from[i]));
    }
  });
}

template <class Combine, class T>
void unsorted_kernel(KernelContext& context) {
  const Shape& shape = context.output_spec(0).shape;
  const std::int64_t segments = shape[0];
  const std::vector<std::int64_t> ids = checked_ids(context, segments);
  const std::int64_t inner = count_of(shape, 1, shape.rank());
  T* out = context.make_output<T>(0);
  if (context.output(0).size() == 0) return;
  if constexpr (is_half<T>) {
    std::vector<float> sums(static_cast<std::size_t>(segments * inner));
    combine_rows<Combine, T>(context.data<T>(0), ids, inner, segments, sums.data());
    std::copy(sums.begin(), sums.end(), out);
  } else {
    combine_rows<Combine, T>(context.data<T>(0), ids, inner, segments, out);
  }
}

/// The segment numbers, which must not be negative nor fall.
std::vector<std::int64_t> sorted_ids(const KernelContext& context) {
  std::vector<std::int64_t> ids = integers_of(context.input(1));
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < (i ? ids[i - 1] : 0))
      context.fail("segment_ids[" + std::to_string(i) + "] = " + std::to_string(ids[i]) + " must be at least " +
                   std::to_string(i ? ids[i - 1] : 0) + ": segment numbers do not fall");
  if (!ids.empty() && ids.back() == std::numeric_limits<std::int64_t>::max())
    context.fail("segment_ids[" + std::to_string(ids.size() - 1) + "] = " + std::to_string(ids.back()) +
                 " leaves no number for the count of segments");
  return ids;
}

/// Combines the rows of each segment; segments without rows become `empty`.
template <class Combine, bool kMean, class T>
void sorted_kernel(KernelContext& context) {
  using Value = Accumulator<T>;
  const std::vector<std::int64_t> ids = sorted_ids(context);
  const std::int64_t segments = ids.empty() ? 0 : ids.back() + 1;
  Shape shape = context.input(0).shape();
  const auto rows = static_cast<std::int64_t>(ids.size());
  const std::int64_t inner = rows ? context.input(0).size() / rows : 0;
  shape.set_dim(0, segments);
  T* out = static_cast<T*>(context.make_output(0, shape));
  const T* data = context.data<T>(0);
  const bool is_product = std::is_same_v<Combine, WrappingMultiply>;
  std::fill_n(out, segments * inner, T(static_cast<Value>(is_product ? 1 : 0)));
  std::vector<Value> sums(static_cast<std::size_t>(inner));
  for (std::int64_t begin = 0, end; begin < rows; begin = end) {
    const std::int64_t id = ids[static_cast<std::size_t>(begin)];
    for (end = begin; end < rows && ids[static_cast<std::size_t>(end)] == id;) ++end;
    std::ranges::fill(sums, Combine::template identity<Value>());
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t i = 0; i < inner; ++i) {
        Value& sum = sums[static_cast<std::size_t>(i)];
        sum = Combine{}(sum, static_cast<Value>(data[row * inner + i]));
      }
    for (std::int64_t i = 0; i < inner; ++i) {
      Value sum = sums[static_cast<std::size_t>(i)];
      if constexpr (kMean) {
        if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>)
          sum = static_cast<Value>(std::int64_t{sum} / (end - begin));
        else if constexpr (std::is_integral_v<Value>)
          sum = static_cast<Value>(std::uint64_t{sum} / static_cast<std::uint64_t>(end - begin));
        else
          sum = sum / static_cast<Value>(static_cast<float>(end - begin));
      }
      out[id * inner + i] = static_cast<T>(sum);
    }
  }
}

// Segments without rows are finite in TensorFlow, other than reductions over nothing.
struct SegmentMaximum : Larger {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::lowest();
  }
};
struct SegmentMinimum : Smaller {
  template <class T>
  static T identity() {
    return std::numeric_limits<T>::max();
  }
};

template <class Combine, class... Types>
KernelSet unsorted_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), unsorted_kernel<Combine, Types>), ...);
  return kernels;
}

template <class Combine, bool kMean, class... Types>
KernelSet sorted_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), sorted_kernel<Combine, kMean, Types>), ...);
  return kernels;
}

}  // namespace

KernelTable segment_kernels() {
  static const KernelRow rows[] = {
      {&unsorted_segment_sum_op, unsorted_kernels<WrappingAdd>(NumberTypes{})},
      {&unsorted_segment_prod_op, unsorted_kernels<WrappingMultiply>(NumberTypes{})},
      {&unsorted_segment_max_op, unsorted_kernels<SegmentMaximum>(RealTypes{})},
      {&unsorted_segment_min_op, unsorted_kernels<SegmentMinimum>(RealTypes{})},
      {&segment_sum_op, sorted_kernels<WrappingAdd, false>(NumberTypes{})},
      {&segment_mean_op, sorted_kernels<WrappingAdd, true>(NumberTypes{})},
      {&segment_prod_op, sorted_kernels<WrappingMultiply, false>(NumberTypes{})},
      {&segment_max_op, sorted_kernels<Larger, false>(RealTypes{})},
      {&segment_min_op, sorted_kernels<Smaller, false>(RealTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
