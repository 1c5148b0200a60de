// Kernels that bring dimensions into another order.
#include <vector>

#include "cpu/indices.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "ops/shape.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

/// A dimension of a transposition: its size, and its steps in the input and in the output.
struct Axis {
  std::int64_t size;
  std::int64_t from;
  std::int64_t to;
};

/// The dimensions in the output's order without those of size 1; neighbours that stay together are one.
std::vector<Axis> axes_of(const Shape& input, const std::vector<std::int64_t>& perm) {
  const auto strides = row_major_strides(input);
  std::vector<Axis> axes;
  for (std::int64_t p : perm) {
    const int axis = static_cast<int>(p < 0 ? p + input.rank() : p);
    const std::int64_t size = input[axis], stride = strides[static_cast<std::size_t>(axis)];
    if (size == 1) continue;
    if (!axes.empty() && axes.back().from == stride * size)
      axes.back() = {axes.back().size * size, stride, 0};
    else
      axes.push_back({size, stride, 0});
  }
  std::int64_t step = 1;
  for (std::size_t i = axes.size(); i-- > 0; step *= axes[i].size) axes[i].to = step;
  return axes;
}

constexpr std::int64_t kTile = 32;  // a tile of 32 x 32 elements and its image stay in the nearest cache

/// to[c * to_step + r] = from[r * from_step + c]: both sides walk in steps of one inside a tile's rows.
template <class T>
void transpose_tile(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t rows,
                    std::int64_t columns) {
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) to[c * to_step + r] = from[r * from_step + c];
}

/// Rows (the output's innermost dimension) times columns (the input's innermost), once for each of the other
/// dimensions.
template <class T>
void transpose_planes(const T* from, T* to, std::vector<Axis> axes) {
  const Axis rows = axes.back();
  axes.pop_back();
  const auto inner = std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.from == 1; });
  const Axis columns = *inner;
  axes.erase(inner);
  std::int64_t planes = 1;
  for (const Axis& axis : axes) planes *= axis.size;
  const std::int64_t bands = (columns.size + kTile - 1) / kTile;
  const std::int64_t bands_per_block = std::max<std::int64_t>(1, kElementsPerBlock / (kTile * rows.size));
  for_blocks(planes * bands, bands_per_block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t plane = unit / bands, from_at = 0, to_at = 0;
      for (std::size_t i = axes.size(); i-- > 0;) {
        const std::int64_t at = plane % axes[i].size;
        plane /= axes[i].size;
        from_at += at * axes[i].from;
        to_at += at * axes[i].to;
      }
      const std::int64_t column = unit % bands * kTile, width = std::min(kTile, columns.size - column);
      for (std::int64_t row = 0; row < rows.size; row += kTile)
        transpose_tile(from + from_at + row * rows.from + column, rows.from, to + to_at + column * columns.to + row,
                       columns.to, std::min(kTile, rows.size - row), width);
    }
  });
}

void transpose_kernel(KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::vector<Axis> axes = axes_of(x.shape(), integers_of(context.input(1)));
  if (axes.size() <= 1 || x.size() == 0) return context.set_output(0, share_elements(x, context.output_spec(0).shape));
  visit_storage(x.dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);
    if (axes.back().from != 1) return transpose_planes(context.data<T>(0), to, axes);
    View view;
    for (const Axis& axis : axes) view.add(axis.size, axis.from);
    copy_from_view(context.data<T>(0), view, to);
  });
}

template <class T>
void invert_permutation_kernel(KernelContext& context) {
  const Tensor& x = context.input(0);
  const T* perm = context.data<T>(0);
  std::vector<T> inverse(static_cast<std::size_t>(x.size()), T(-1));
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (perm[i] < 0 || perm[i] >= x.size()) fail_index(context, "x", x.shape(), i, perm[i], x.size());
    T& place = inverse[static_cast<std::size_t>(perm[i])];
    if (place >= 0) context.fail("'x' must name each number once, got " + std::to_string(perm[i]) + " twice");
    place = static_cast<T>(i);
  }
  std::ranges::copy(inverse, context.make_output<T>(0));
}

}  // namespace

KernelTable transpose_kernels() {
  static const KernelRow rows[] = {
      {&transpose_op, any_type(transpose_kernel)},
      {&invert_permutation_op, KernelSet{}
                                   .set(DType::int32, invert_permutation_kernel<std::int32_t>)
                                   .set(DType::int64, invert_permutation_kernel<std::int64_t>)},
  };
  return rows;
}

}  // namespace capstan::cpu
