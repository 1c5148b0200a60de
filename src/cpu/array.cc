// Kernels that make tensors and change their shape.
#include "ops/array.h"

#include <algorithm>
#include <cstring>

#include "capstan/ops/array.h"
#include "cpu/broadcast.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "op/observer.h"
#include "ops/tensor_list.h"
#include "tensor/storage.h"
#include "tensor/type_switch.h"

namespace capstan::cpu {
namespace {

void share(KernelContext& context) {
  context.set_output(0, share_elements(context.input(0), context.output_spec(0).shape));
}

void broadcast_to_kernel(KernelContext& context) {
  const Shape& shape = context.output_spec(0).shape;
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    const T* from = context.data<T>(0);
    T* to = context.make_output<T>(0);
    if (!context.output(0).size()) return;
    const BroadcastPlan plan(context.input(0).shape(), Shape{}, shape);
    const auto inner = plan.inner();
    for (std::int64_t row = 0; row < plan.row_count(); ++row, to += inner.size) {
      const T* at = from + plan.row(row).a;
      if (inner.stride_a)
        std::copy_n(at, inner.size, to);
      else
        std::fill_n(to, inner.size, *at);
    }
  });
}

void fill_kernel(KernelContext& context) {
  visit_storage(context.input(1).dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);
    std::fill_n(to, context.output(0).size(), *context.data<T>(1));
  });
}

/// A list of as many zeros; elements that were never set stay so.
Tensor zeros_like_list(const TensorList& list) {
  const PauseObservers silent;
  auto elements = list.elements();
  for (Tensor& element : elements)
    if (element.is_defined()) element = zeros_like(element);
  return list_tensor(list.with(std::move(elements)));
}

void zeros_like_kernel(KernelContext& context) {
  const TensorSpec& spec = context.output_spec(0);
  if (spec.dtype == DType::variant && context.input(0).size() == 1)
    return context.set_output(0, zeros_like_list(*list_in(context.input(0), "ZerosLike")));
  void* to = context.make_output(0, spec.shape);  // strings and variants are born empty
  if (is_plain(spec.dtype))
    std::memset(to, 0, static_cast<std::size_t>(context.output(0).size()) * dtype_size(spec.dtype));
}

void ones_like_kernel(KernelContext& context) {
  visit_number(context.input(0).dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);  // before its size is asked for
    std::fill_n(to, context.output(0).size(), T(1));
  });
}

void shape_kernel(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  if (context.output_spec(0).dtype == DType::int64) {
    std::ranges::copy(shape.dims(), context.make_output<std::int64_t>(0));
    return;
  }
  std::int32_t* to = context.make_output<std::int32_t>(0);
  for (std::int64_t size : shape.dims()) {
    if (size > std::numeric_limits<std::int32_t>::max())
      context.fail("dimension " + std::to_string(size) + " does not fit into int32; ask for out_type int64");
    *to++ = static_cast<std::int32_t>(size);
  }
}

}  // namespace

KernelTable array_kernels() {
  static const KernelRow rows[] = {
      {&reshape_op, any_type(share)},
      {&broadcast_to_op, any_type(broadcast_to_kernel)},
      {&fill_op, any_type(fill_kernel)},
      {&zeros_like_op, any_type(zeros_like_kernel)},
      {&ones_like_op, any_type(ones_like_kernel)},
      {&identity_op, any_type(share)},
      {&stop_gradient_op, any_type(share)},
      {&shape_op, any_type(shape_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
