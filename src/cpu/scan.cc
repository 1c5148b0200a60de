// Kernels of the scans.
#include <vector>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/tables.h"
#include "ops/reduce.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

/// x is [outer, n, inner]. Threads take columns of `inner`, so each scan runs in its own order.
template <class Combine, class T>
void scan(const T* x, T* out, std::int64_t outer, std::int64_t n, std::int64_t inner, const ScanAttributes& how) {
  using Value = Accumulator<T>;
  constexpr std::int64_t kColumns = 256;
  const std::int64_t bands = (inner + kColumns - 1) / kColumns;
  const std::int64_t per_block =
      std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, n * std::min(inner, kColumns)));
  for_blocks(outer * bands, per_block, [&](std::int64_t begin, std::int64_t end) {
    Value running[kColumns];
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t column = unit % bands * kColumns, width = std::min(kColumns, inner - column);
      const std::int64_t base = unit / bands * n * inner + column;
      std::fill_n(running, width, Combine::template identity<Value>());
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = base + (how.reverse ? n - 1 - i : i) * inner;
        for (std::int64_t k = 0; k < width; ++k) {
          const Value next = Combine{}(running[k], static_cast<Value>(x[at + k]));
          out[at + k] = static_cast<T>(how.exclusive ? running[k] : next);
          running[k] = next;
        }
      }
    }
  });
}

template <class Combine, class T>
void scan_kernel(KernelContext& context) {
  const Shape& shape = context.output_spec(0).shape;
  std::int64_t axis = integers_of(context.input(1))[0];
  if (axis < 0) axis += shape.rank();
  const int at = static_cast<int>(axis);
  const std::int64_t outer = count_of(shape, 0, at), inner = count_of(shape, at + 1, shape.rank());
  T* out = context.make_output<T>(0);
  if (context.output(0).size() == 0) return;
  scan<Combine>(context.data<T>(0), out, outer, shape[at], inner, context.attributes<ScanAttributes>());
}

template <class Combine, class... Types>
KernelSet scan_kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), scan_kernel<Combine, Types>), ...);
  return kernels;
}

}  // namespace

KernelTable scan_kernels() {
  static const KernelRow rows[] = {
      {&cumsum_op, scan_kernels_of<WrappingAdd>(NumberTypes{})},
      {&cumprod_op, scan_kernels_of<WrappingMultiply>(NumberTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
