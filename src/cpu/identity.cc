// Kernels of constants, of passing values through, and of keeping a part of each matrix.
#include "ops/identity.h"

#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

void const_kernel(KernelContext& context) {
  const Tensor& value = context.attributes<ConstAttributes>().value;
  context.set_output(0, share_elements(value, value.shape()));
}

void identity_n_kernel(KernelContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i)
    context.set_output(i, share_elements(context.input(i), context.input(i).shape()));
}

void matrix_band_part_kernel(KernelContext& context) {
  const Shape shape = context.output_spec(0).shape;
  const std::int64_t rows = shape.dim(-2), columns = shape.dim(-1);
  std::int64_t lower = integers_of(context.input(1))[0], upper = integers_of(context.input(2))[0];
  if (lower < 0) lower = rows;
  if (upper < 0) upper = columns;
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    const T* from = context.data<T>(0);
    T* to = context.make_output<T>(0);
    if (context.output(0).size() == 0) return;
    for_blocks(context.output(0).size() / columns, std::max<std::int64_t>(1, kElementsPerBlock / columns),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t row = i % rows;
                   const std::int64_t first = std::clamp<std::int64_t>(row - lower, 0, columns);
                   const std::int64_t last = std::clamp<std::int64_t>(row + upper + 1, first, columns);
                   T* out = to + i * columns;
                   std::fill(out, out + first, T());
                   std::copy(from + i * columns + first, from + i * columns + last, out + first);
                   std::fill(out + last, out + columns, T());
                 }
               });
  });
}

}  // namespace

KernelTable identity_kernels() {
  static const KernelRow rows[] = {
      {&const_op, any_type(const_kernel)},
      {&identity_n_op, any_type(identity_n_kernel)},
      {&prevent_gradient_op, any_type(identity_n_kernel)},
      {&matrix_band_part_op, any_type(matrix_band_part_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
