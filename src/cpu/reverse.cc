// Kernels that change the order along dimensions.
#include "ops/reverse.h"

#include <vector>

#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

void reverse_kernel(KernelContext& context) {
  const Shape shape = context.input(0).shape();
  const auto strides = row_major_strides(shape);
  std::vector<bool> is_reversed(strides.size());
  for (std::int64_t axis : integers_of(context.input(1)))
    is_reversed[static_cast<std::size_t>(axis < 0 ? axis + shape.rank() : axis)] = true;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < strides.size(); ++i)
    if (is_reversed[i]) offset += (shape[static_cast<int>(i)] - 1) * strides[i];
  View view(offset);
  for (std::size_t i = 0; i < strides.size(); ++i)
    view.add(shape[static_cast<int>(i)], is_reversed[i] ? -strides[i] : strides[i]);
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);
    if (context.output(0).size() > 0) copy_from_view(context.data<T>(0), view, to);
  });
}

/// The shift of each dimension, within [0, size).
std::vector<std::int64_t> shifts_of(const Shape& shape, const std::vector<std::int64_t>& shift,
                                    const std::vector<std::int64_t>& axes) {
  std::vector<std::int64_t> shifts(static_cast<std::size_t>(shape.rank()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + shape.rank() : axes[i]);
    const std::int64_t size = shape[static_cast<int>(axis)];
    if (size > 0) shifts[axis] = ((shifts[axis] + shift[i] % size) % size + size) % size;
  }
  return shifts;
}

void roll_kernel(KernelContext& context) {
  const Shape shape = context.input(0).shape();
  const std::vector<std::int64_t> shifts =
      shifts_of(shape, integers_of(context.input(1)), integers_of(context.input(2)));
  const auto strides = row_major_strides(shape);
  std::vector<std::size_t> rolled;
  for (std::size_t i = 0; i < shifts.size(); ++i)
    if (shifts[i] != 0) rolled.push_back(i);
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    const T* from = context.data<T>(0);
    T* to = context.make_output<T>(0);
    const std::int64_t count = context.output(0).size();
    if (count == 0) return;
    if (rolled.empty()) return copy_blocks(from, count, to);
    // Behind the last rolled dimension elements keep together: two runs per row, for each row its place.
    const std::size_t last = rolled.back();
    const std::int64_t size = shape[static_cast<int>(last)], inner = strides[last];
    const std::int64_t row = size * inner, shift = shifts[last] * inner;
    for_blocks(count / row, std::max<std::int64_t>(1, kElementsPerBlock / row),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) {
                   std::int64_t target = 0, rest = r * row;
                   for (std::size_t i = 0; i < last; ++i) {
                     const std::int64_t at = rest / strides[i];
                     rest %= strides[i];
                     target += (at + shifts[i]) % shape[static_cast<int>(i)] * strides[i];
                   }
                   const T* source = from + r * row;
                   std::copy_n(source, row - shift, to + target + shift);
                   std::copy_n(source + row - shift, shift, to + target);
                 }
               });
  });
}

}  // namespace

KernelTable reverse_kernels() {
  static const KernelRow rows[] = {
      {&reverse_v2_op, any_type(reverse_kernel)},
      {&roll_op, any_type(roll_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
