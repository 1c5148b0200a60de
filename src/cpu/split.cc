// Kernels that split tensors.
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "ops/concat.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

/// Copies part after part out of `input`, whose dimensions from `axis` on are cut.
void cut(KernelContext& context, std::size_t input, std::int64_t axis) {
  const Tensor& whole = context.input(input);
  const int at = static_cast<int>(axis < 0 ? axis + whole.rank() : axis);
  visit_storage(whole.dtype(), [&]<class T>() {
    const std::int64_t outer = count_of(whole.shape(), 0, at);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      T* to = context.make_output<T>(i);
      const std::int64_t count = context.output(i).size();
      if (count == 0) continue;
      View part(offset);
      part.add(outer, whole.size() / outer);
      part.add(count / outer, 1);
      copy_from_view(context.data<T>(input), part, to);
      offset += count / outer;
    }
  });
}

void unpack_kernel(KernelContext& context) { cut(context, 0, context.attributes<UnpackAttributes>().axis); }
void split_kernel(KernelContext& context) { cut(context, 1, integers_of(context.input(0))[0]); }
void split_v_kernel(KernelContext& context) { cut(context, 0, integers_of(context.input(2))[0]); }

}  // namespace

KernelTable split_kernels() {
  static const KernelRow rows[] = {
      {&unpack_op, any_type(unpack_kernel)},
      {&split_op, any_type(split_kernel)},
      {&split_v_op, any_type(split_v_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
