// Kernels that put parts where indices say.
#include <vector>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/indices.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "ops/gather.h"
#include "tensor/element_count.h"
#include "tensor/type_switch.h"

namespace capstan::cpu {
namespace {

/// Elements in one part, the trailing dimensions that indices do not speak of.
std::int64_t part_size(const Shape& shape, const Tensor& indices) {
  return count_of(shape, static_cast<int>(indices.shape().dim(-1)), shape.rank());
}

/// Calls `combine(element, update)` for every element of every part; parts named twice are visited in order.
template <class T, class Combine>
void visit_parts(const std::vector<std::int64_t>& offsets, std::int64_t size, const T* updates, Combine&& combine) {
  for (std::size_t row = 0; row < offsets.size(); ++row) {
    if (offsets[row] < 0) continue;
    const std::int64_t at = offsets[row] * size;
    const T* update = updates + static_cast<std::int64_t>(row) * size;
    for (std::int64_t i = 0; i < size; ++i) combine(at + i, update[i]);
  }
}

// Adding up in float would need a float copy of the whole target for half types; each sum is rounded instead.
struct AddTo {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(WrappingAdd{}(static_cast<Accumulator<T>>(x), static_cast<Accumulator<T>>(y)));
  }
};
struct SubtractFrom {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) - static_cast<std::make_unsigned_t<T>>(y));
    else
      return static_cast<T>(static_cast<Accumulator<T>>(x) - static_cast<Accumulator<T>>(y));
  }
};

bool ignores(const KernelContext& context) { return context.attributes<BadIndices>().ignores(); }

template <class T>
void scatter_nd(KernelContext& context) {
  const Shape shape = context.output_spec(0).shape;
  const auto offsets = part_offsets(context, context.input(0), shape, ignores(context));
  const T* updates = context.data<T>(1);
  T* out = context.make_output<T>(0);
  const std::int64_t size = part_size(shape, context.input(0));
  if constexpr (std::is_same_v<T, bool>) {
    std::fill_n(out, context.output(0).size(), false);
    visit_parts(offsets, size, updates, [&](std::int64_t at, bool update) { out[at] = out[at] || update; });
  } else if constexpr (std::is_same_v<T, std::string>) {
    visit_parts(offsets, size, updates, [&](std::int64_t at, const std::string& update) { out[at] += update; });
  } else if constexpr (is_half<T>) {
    std::vector<float> sums(static_cast<std::size_t>(context.output(0).size()));
    visit_parts(offsets, size, updates,
                [&](std::int64_t at, T update) { sums[static_cast<std::size_t>(at)] += update; });
    std::copy(sums.begin(), sums.end(), out);
  } else {
    std::fill_n(out, context.output(0).size(), T(0));
    visit_parts(offsets, size, updates, [&](std::int64_t at, T update) { out[at] = WrappingAdd{}(out[at], update); });
  }
}

void scatter_nd_kernel(KernelContext& context) {
  if (context.input(1).dtype() == DType::string) return scatter_nd<std::string>(context);
  visit_number(context.input(1).dtype(), [&]<class T>() { scatter_nd<T>(context); });
}

/// A copy of the tensor, over its memory where that was given away.
template <class T>
T* copied(KernelContext& context) {
  const T* from = context.data<T>(0);
  T* to = context.make_output_over<T>(0, 0);
  if (to != from) std::copy_n(from, context.output(0).size(), to);
  return to;
}

void tensor_scatter_update_kernel(KernelContext& context) {
  const Shape shape = context.output_spec(0).shape;
  const auto offsets = part_offsets(context, context.input(1), shape, ignores(context));
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    const T* updates = context.data<T>(2);
    T* out = copied<T>(context);
    visit_parts(offsets, part_size(shape, context.input(1)), updates,
                [&](std::int64_t at, const T& update) { out[at] = update; });
  });
}

template <class Combine, class T>
void tensor_scatter_kernel(KernelContext& context) {
  const Shape shape = context.output_spec(0).shape;
  const auto offsets = part_offsets(context, context.input(1), shape, ignores(context));
  const T* updates = context.data<T>(2);
  T* out = copied<T>(context);
  visit_parts(offsets, part_size(shape, context.input(1)), updates,
              [&](std::int64_t at, T update) { out[at] = Combine{}(out[at], update); });
}

template <class Combine, class... Types>
KernelSet tensor_scatter_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), tensor_scatter_kernel<Combine, Types>), ...);
  return kernels;
}

KernelSet number_bool_string(Kernel kernel) {
  KernelSet kernels = any_type(kernel);
  return kernels.set(DType::resource, nullptr).set(DType::variant, nullptr);
}

}  // namespace

KernelTable scatter_kernels() {
  static const KernelRow rows[] = {
      {&scatter_nd_op, number_bool_string(scatter_nd_kernel)},
      {&tensor_scatter_update_op, any_type(tensor_scatter_update_kernel)},
      {&tensor_scatter_add_op, tensor_scatter_kernels<AddTo>(NumberTypes{})},
      {&tensor_scatter_sub_op, tensor_scatter_kernels<SubtractFrom>(NumberTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
