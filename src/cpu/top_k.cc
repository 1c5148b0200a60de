// Kernels of top_k and its relatives, and of the sum of squares.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/scratch.h"
#include "cpu/tables.h"
#include "ops/nn.h"

namespace capstan::cpu {
namespace {

/// Does element `i` of the row come before element `j`? Larger ones do, of equals the one that stands first; NaN comes
/// behind all numbers, as if it were smallest.
template <class T>
struct Before {
  const T* row;
  bool operator()(std::int64_t i, std::int64_t j) const {
    const auto a = static_cast<Accumulator<T>>(row[i]), b = static_cast<Accumulator<T>>(row[j]);
    if (a > b) return true;
    if (a == b) return i < j;
    if (a < b) return false;
    const bool is_number_a = a == a, is_number_b = b == b;
    return is_number_a == is_number_b ? i < j : is_number_a;
  }
};

/// The places of the row's `k` largest elements, largest first.
template <class T>
void find_largest(const T* row, std::int64_t n, std::int64_t k, std::vector<std::int64_t>& places) {
  const Before<T> before{row};
  if (k == 1) {
    places.resize(1);
    places[0] = 0;
    for (std::int64_t i = 1; i < n; ++i)
      if (before(i, places[0])) places[0] = i;
    return;
  }
  places.resize(static_cast<std::size_t>(n));
  std::iota(places.begin(), places.end(), std::int64_t{0});
  if (k < n) std::nth_element(places.begin(), places.begin() + k, places.end(), before);
  std::sort(places.begin(), places.begin() + k, before);
}

template <class T, class Index>
void top_k_rows(KernelContext& context) {
  const Shape& input = context.input(0).shape();
  const std::int64_t n = input[input.rank() - 1], k = context.output_spec(0).shape[input.rank() - 1];
  const T* x = context.data<T>(0);
  T* values = context.make_output<T>(0);
  Index* indices = context.make_output<Index>(1);
  if (k == 0 || n == 0) return;
  if (n - 1 > static_cast<std::int64_t>(std::numeric_limits<Index>::max()))
    context.fail("indices up to " + std::to_string(n - 1) + " do not fit into the attribute 'index_type'");
  for_blocks(input.num_elements() / n, std::max<std::int64_t>(1, kElementsPerBlock / 8 / n),
             [&](std::int64_t begin, std::int64_t end) {
               std::vector<std::int64_t> places;
               for (std::int64_t row = begin; row < end; ++row) {
                 find_largest(x + row * n, n, k, places);
                 for (std::int64_t i = 0; i < k; ++i) {
                   const std::int64_t place = places[static_cast<std::size_t>(i)];
                   values[row * k + i] = x[row * n + place];
                   indices[row * k + i] = static_cast<Index>(place);
                 }
               }
             });
}

template <class T>
void top_k_kernel(KernelContext& context) {
  switch (context.output_spec(1).dtype) {
    case DType::int16:
      return top_k_rows<T, std::int16_t>(context);
    case DType::int32:
      return top_k_rows<T, std::int32_t>(context);
    default:
      return top_k_rows<T, std::int64_t>(context);
  }
}

template <class Target>
void in_top_k_kernel(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  const std::int64_t n = shape[1], k = static_cast<std::int64_t>(*context.data<Target>(2));
  const float* predictions = context.data<float>(0);
  const Target* targets = context.data<Target>(1);
  bool* out = context.make_output<bool>(0);
  for (std::int64_t row = 0; row < shape[0]; ++row, predictions += n) {
    const auto target = static_cast<std::int64_t>(targets[row]);
    out[row] = false;
    if (target < 0 || target >= n) continue;
    // A row with infinities or NaN says nothing.
    std::int64_t larger = 0;
    bool is_finite = true;
    for (std::int64_t i = 0; i < n; ++i) {
      is_finite = is_finite && std::isfinite(predictions[i]);
      larger += predictions[i] > predictions[target];
    }
    out[row] = is_finite && larger < k;
  }
}

template <class T>
void l2_loss_kernel(KernelContext& context) {
  using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const T* x = context.data<T>(0);
  const std::int64_t count = context.input(0).size(), blocks = (count + kElementsPerBlock - 1) / kElementsPerBlock;
  const Scratch<W> sums(static_cast<std::size_t>(blocks));
  for_blocks(count, kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    W partial[16] = {};
    std::int64_t i = begin;
    for (; i + 16 <= end; i += 16)
      for (int lane = 0; lane < 16; ++lane) partial[lane] += static_cast<W>(x[i + lane]) * static_cast<W>(x[i + lane]);
    for (; i < end; ++i) partial[0] += static_cast<W>(x[i]) * static_cast<W>(x[i]);
    sums.data()[begin / kElementsPerBlock] = std::accumulate(partial, partial + 16, W(0));
  });
  *context.make_output<T>(0) = static_cast<T>(std::accumulate(sums.data(), sums.data() + blocks, W(0)) / W(2));
}

template <class... Types>
KernelSet top_k_kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), top_k_kernel<Types>), ...);
  return kernels;
}
template <class... Types>
KernelSet l2_loss_kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), l2_loss_kernel<Types>), ...);
  return kernels;
}

}  // namespace

KernelTable top_k_kernels() {
  static const KernelRow rows[] = {
      {&top_k_v2_op, top_k_kernels_of(RealTypes{})},
      {&in_top_k_v2_op,
       KernelSet().set(DType::int32, in_top_k_kernel<std::int32_t>).set(DType::int64, in_top_k_kernel<std::int64_t>)},
      {&l2_loss_op, l2_loss_kernels_of(FloatingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
