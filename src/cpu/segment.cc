// Kernels of the segment reductions.
#include "ops/segment.h"

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/indices.h"
#include "cpu/tables.h"
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
  std::int64_t inner = 1;
  for (int i = 1; i < shape.rank(); ++i) inner *= shape[i];
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

template <class Combine, class... Types>
KernelSet unsorted_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), unsorted_kernel<Combine, Types>), ...);
  return kernels;
}

}  // namespace

KernelTable segment_kernels() {
  static const KernelRow rows[] = {
      {&unsorted_segment_sum_op, unsorted_kernels<WrappingAdd>(NumberTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
