// Kernels of the biases.
#include <algorithm>

#include "cpu/elementwise.h"
#include "cpu/scratch.h"
#include "cpu/tables.h"
#include "ops/nn.h"
#include "tensor/element_count.h"

namespace capstan::cpu {
namespace {

// Half types are summed in float, integers unsigned.
template <class T>
struct SumOf {
  using type = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;
};
template <class T>
requires std::is_integral_v<T>
struct SumOf<T> {
  using type = std::uint64_t;
};
template <class T>
using Sum = typename SumOf<T>::type;

template <class T>
T plus(T a, T b) {
  return static_cast<T>(static_cast<Sum<T>>(a) + static_cast<Sum<T>>(b));
}

/// The tensor as [outer, channels, inner]; inner is 1 unless the channels come first.
struct Layout {
  std::int64_t outer = 1, channels = 1, inner = 1;
  explicit Layout(const KernelContext& context) {
    const Shape& shape = context.input(0).shape();
    const int channel = channel_axis(context.attributes<LayoutAttributes>().data_format, shape.rank());
    outer = count_of(shape, 0, channel);
    channels = shape[channel];
    inner = count_of(shape, channel + 1, shape.rank());
  }
  std::int64_t row() const { return channels * inner; }
  std::int64_t rows_per_block() const {
    return std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, row()));
  }
};

template <class T>
void bias_add_kernel(KernelContext& context) {
  const Layout layout(context);
  const T* x = context.data<T>(0);
  const T* bias = context.data<T>(1);
  T* out = context.make_output_over<T>(0, 0);
  for_blocks(layout.outer, layout.rows_per_block(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * layout.row(); i < end * layout.row(); i += layout.row()) {
      if (layout.inner == 1) {
        for (std::int64_t c = 0; c < layout.channels; ++c) out[i + c] = plus(x[i + c], bias[c]);
      } else {
        for (std::int64_t c = 0; c < layout.channels; ++c)
          for (std::int64_t k = i + c * layout.inner; k < i + (c + 1) * layout.inner; ++k) out[k] = plus(x[k], bias[c]);
      }
    }
  });
}

/// Adds up the rows from `begin` to `end` into `sums`, one per channel.
template <class T>
void sum_rows(const Layout& layout, const T* x, std::int64_t begin, std::int64_t end, Sum<T>* sums) {
  std::fill_n(sums, layout.channels, Sum<T>(0));
  for (std::int64_t i = begin * layout.row(); i < end * layout.row(); i += layout.row()) {
    if (layout.inner == 1) {
      for (std::int64_t c = 0; c < layout.channels; ++c) sums[c] += static_cast<Sum<T>>(x[i + c]);
    } else {
      for (std::int64_t c = 0; c < layout.channels; ++c) {
        Sum<T> sum(0);
        for (std::int64_t k = 0; k < layout.inner; ++k) sum += static_cast<Sum<T>>(x[i + c * layout.inner + k]);
        sums[c] += sum;
      }
    }
  }
}

template <class T>
void bias_add_grad_kernel(KernelContext& context) {
  const Layout layout(context);
  const T* x = context.data<T>(0);
  T* out = context.make_output<T>(0);
  const std::int64_t rows = layout.rows_per_block(),
                     blocks = std::max<std::int64_t>(1, (layout.outer + rows - 1) / rows);
  const Scratch<Sum<T>> sums(static_cast<std::size_t>(blocks * layout.channels));
  std::fill_n(sums.data(), layout.channels, Sum<T>(0));
  for_blocks(layout.outer, rows, [&](std::int64_t begin, std::int64_t end) {
    sum_rows(layout, x, begin, end, sums.data() + begin / rows * layout.channels);
  });
  for (std::int64_t c = 0; c < layout.channels; ++c) {
    Sum<T> sum = sums.data()[c];
    for (std::int64_t block = 1; block < blocks; ++block) sum += sums.data()[block * layout.channels + c];
    out[c] = static_cast<T>(sum);
  }
}

template <class... Types>
KernelSet add_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), bias_add_kernel<Types>), ...);
  return kernels;
}
template <class... Types>
KernelSet add_grad_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), bias_add_grad_kernel<Types>), ...);
  return kernels;
}

}  // namespace

KernelTable bias_kernels() {
  static const KernelRow rows[] = {
      {&bias_add_op, add_kernels(NumberTypes{})},
      {&bias_add_grad_op, add_grad_kernels(NumberTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
