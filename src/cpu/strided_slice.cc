// Kernels of slicing.
#include "ops/strided_slice.h"

#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

/// The slice as a walk through an array of that shape.
View view_of(const KernelContext& context, const Shape& shape) {
  const std::vector<std::int64_t> begin = integers_of(context.input(1)), end = integers_of(context.input(2));
  const StridedSlicePlan plan =
      plan_strided_slice(context.op().name(), shape, &begin, &end, integers_of(context.input(3)),
                         context.attributes<StridedSliceAttributes>());
  const auto strides = row_major_strides(shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < plan.dims.size(); ++i)
    if (plan.dims[i].count > 0) offset += plan.dims[i].begin * strides[i];
  View view(offset);
  for (std::size_t i = 0; i < plan.dims.size(); ++i) {
    // A step is used only between elements; beyond them it may be too large to be multiplied.
    const std::int64_t step = plan.dims[i].count > 1 ? plan.dims[i].stride * strides[i] : 0;
    view.add(plan.dims[i].count, step);
  }
  return view;
}

void slice_kernel(KernelContext& context) {
  const Shape shape = context.input(0).shape();
  const std::vector<std::int64_t> begin = integers_of(context.input(1));
  const Shape part = context.output_spec(0).shape;
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);
    if (context.output(0).size() == 0) return;
    const auto strides = row_major_strides(shape);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < begin.size(); ++i) offset += begin[i] * strides[i];
    View view(offset);
    for (std::size_t i = 0; i < begin.size(); ++i) view.add(part[static_cast<int>(i)], strides[i]);
    copy_from_view(context.data<T>(0), view, to);
  });
}

void strided_slice_kernel(KernelContext& context) {
  const View view = view_of(context, context.input(0).shape());
  visit_storage(context.input(0).dtype(),
                [&]<class T>() { copy_from_view(context.data<T>(0), view, context.make_output<T>(0)); });
}

void strided_slice_grad_kernel(KernelContext& context) {
  const View view = view_of(context, context.output_spec(0).shape);
  visit_storage(context.input(4).dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);
    const std::int64_t count = context.output(0).size();
    for_blocks(count, 4 * kElementsPerBlock,
               [&](std::int64_t begin, std::int64_t end) { std::fill(to + begin, to + end, T()); });
    copy_to_view(context.data<T>(4), to, view);
  });
}

}  // namespace

KernelTable strided_slice_kernels() {
  static const KernelRow rows[] = {
      {&slice_op, any_type(slice_kernel)},
      {&strided_slice_op, any_type(strided_slice_kernel)},
      {&strided_slice_grad_op, any_type(strided_slice_grad_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
