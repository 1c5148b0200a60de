// Kernels that join tensors.
#include "ops/concat.h"

#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

/// Writes `count` inputs side by side: for each of the outer positions a row of every input.
void join(KernelContext& context, std::size_t count, int axis) {
  const Shape shape = context.output_spec(0).shape;
  visit_storage(context.output_spec(0).dtype, [&]<class T>() {
    T* to = context.make_output<T>(0);
    if (context.output(0).size() == 0) return;
    const std::int64_t outer = count_of(shape, 0, axis), row = count_of(shape, axis, shape.rank());
    for (std::size_t i = 0; i < count; ++i) {
      const Tensor& part = context.input(i);
      if (part.size() == 0) continue;
      const std::int64_t width = part.size() / outer;
      View place;
      place.add(outer, row);
      place.add(width, 1);
      copy_to_view(context.data<T>(i), to, place);
      to += width;
    }
  });
}

void concat_kernel(KernelContext& context) {
  const std::size_t count = context.input_count() - 1;
  const std::int64_t axis = integers_of(context.input(count))[0];
  join(context, count, static_cast<int>(axis < 0 ? axis + context.output_spec(0).shape.rank() : axis));
}

void pack_kernel(KernelContext& context) {
  const std::int64_t axis = context.attributes<PackAttributes>().axis;
  join(context, context.input_count(), static_cast<int>(axis < 0 ? axis + context.output_spec(0).shape.rank() : axis));
}

template <class T>
void concat_offset_kernel(KernelContext& context) {
  const std::int64_t rank = context.input(1).size();
  std::int64_t axis = *context.data<std::int32_t>(0);
  if (axis < -rank || axis >= rank)
    context.fail("'concat_dim' must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) + "), got " +
                 std::to_string(axis));
  if (axis < 0) axis += rank;
  for (std::size_t i = 2; i < context.input_count(); ++i)
    for (std::int64_t d = 0; d < rank; ++d)
      if (d != axis && context.data<T>(i)[d] != context.data<T>(1)[d])
        context.fail("the shapes must agree outside dimension " + std::to_string(axis) + ", got sizes " +
                     std::to_string(context.data<T>(1)[d]) + " and " + std::to_string(context.data<T>(i)[d]) +
                     " in dimension " + std::to_string(d));
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    T* out = static_cast<T*>(context.make_output(i, Shape{rank}));
    std::fill_n(out, rank, T(0));
    out[axis] = static_cast<T>(offset);
    if (__builtin_add_overflow(offset, std::int64_t{context.data<T>(i + 1)[axis]}, &offset) ||
        offset != std::int64_t{static_cast<T>(offset)})
      context.fail("the joined dimension does not fit into " + std::string(dtype_name(dtype_of<T>())));
  }
}

}  // namespace

KernelTable concat_kernels() {
  static const KernelRow rows[] = {
      {&concat_v2_op, any_type(concat_kernel)},
      {&concat_offset_op, KernelSet{}
                              .set(DType::int32, concat_offset_kernel<std::int32_t>)
                              .set(DType::int64, concat_offset_kernel<std::int64_t>)},
      {&pack_op, any_type(pack_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
