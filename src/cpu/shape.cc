// Kernels of the ops about shapes.
#include "ops/shape.h"

#include <algorithm>

#include "cpu/tables.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

void share(KernelContext& context) {
  context.set_output(0, share_elements(context.input(0), context.output_spec(0).shape));
}

void write_integers(KernelContext& context, std::size_t output, std::span<const std::int64_t> values) {
  if (context.output_spec(output).dtype == DType::int64) {
    std::ranges::copy(values, context.make_output<std::int64_t>(output));
    return;
  }
  for (std::int64_t value : values)
    if (value > std::numeric_limits<std::int32_t>::max())
      context.fail(std::to_string(value) + " does not fit into int32; ask for out_type int64");
  std::ranges::copy(values, context.make_output<std::int32_t>(output));
}

void shape_n_kernel(KernelContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) write_integers(context, i, context.input(i).shape().dims());
}

void size_kernel(KernelContext& context) {
  const std::int64_t size = context.input(0).size();
  write_integers(context, 0, std::span(&size, 1));
}

void rank_kernel(KernelContext& context) { *context.make_output<std::int32_t>(0) = context.input(0).rank(); }

}  // namespace

KernelTable shape_kernels() {
  static const KernelRow rows[] = {
      {&shape_n_op, any_type(shape_n_kernel)}, {&size_op, any_type(size_kernel)}, {&rank_op, any_type(rank_kernel)},
      {&expand_dims_op, any_type(share)},      {&squeeze_op, any_type(share)},    {&ensure_shape_op, any_type(share)},
  };
  return rows;
}

}  // namespace capstan::cpu
