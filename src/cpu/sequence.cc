// Kernels that make tensors from a few numbers.
#include "ops/sequence.h"

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/indices.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "tensor/element_count.h"

namespace capstan::cpu {
namespace {

/// Each number is the one before plus the step, as TensorFlow computes it; halves keep the running value in float.
template <class T>
void range_kernel(KernelContext& context) {
  T* to = context.make_output<T>(0);
  const auto delta = static_cast<Accumulator<T>>(*context.data<T>(2));
  auto value = static_cast<Accumulator<T>>(*context.data<T>(0));
  for (std::int64_t i = 0; i < context.output(0).size(); ++i) {
    to[i] = static_cast<T>(value);
    value = WrappingAdd{}(value, delta);
  }
}

template <class T>
void lin_space_kernel(KernelContext& context) {
  T* to = context.make_output<T>(0);
  using Wide = Accumulator<T>;
  const std::int64_t last = context.output(0).size() - 1;
  const auto start = static_cast<Wide>(*context.data<T>(0)), stop = static_cast<Wide>(*context.data<T>(1));
  to[0] = static_cast<T>(start);
  if (last == 0) return;
  const Wide step = (stop - start) / static_cast<Wide>(last);
  for (std::int64_t i = 1; i < last; ++i) to[i] = static_cast<T>(start + step * static_cast<Wide>(i));
  to[last] = static_cast<T>(stop);
}

template <template <class> class Kernels, class... Types>
KernelSet kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), Kernels<Types>::run), ...);
  return kernels;
}

template <class T>
struct RangeKernel {
  static void run(KernelContext& context) { range_kernel<T>(context); }
};
template <class T>
struct LinSpaceKernel {
  static void run(KernelContext& context) { lin_space_kernel<T>(context); }
};

/// The output is [outer, depth, inner], the indices [outer, inner].
template <class T, class Index>
void one_hot(KernelContext& context) {
  const Tensor& indices = context.input(0);
  const std::int64_t depth = *context.data<std::int32_t>(1), axis = context.attributes<OneHotAttributes>().axis;
  T* to = context.make_output<T>(0);
  if (context.output(0).size() == 0) return;
  std::fill_n(to, context.output(0).size(), *context.data<T>(3));
  std::int64_t inner = 1;
  if (axis >= 0) inner = count_of(indices.shape(), static_cast<int>(axis), indices.rank());
  const Index* index = context.data<Index>(0);
  for (std::int64_t i = 0; i < indices.size(); ++i)
    if (index[i] >= 0 && std::int64_t{index[i]} < depth)
      to[(i / inner * depth + std::int64_t{index[i]}) * inner + i % inner] = *context.data<T>(2);
}

void one_hot_kernel(KernelContext& context) {
  visit_storage(context.output_spec(0).dtype, [&]<class T>() {
    switch (context.input(0).dtype()) {
      case DType::uint8:
        return one_hot<T, std::uint8_t>(context);
      case DType::int8:
        return one_hot<T, std::int8_t>(context);
      case DType::int32:
        return one_hot<T, std::int32_t>(context);
      default:
        return one_hot<T, std::int64_t>(context);
    }
  });
}

}  // namespace

KernelTable sequence_kernels() {
  static const KernelRow rows[] = {
      {&range_op, kernels_of<RangeKernel>(RealTypes{})},
      {&lin_space_op, kernels_of<LinSpaceKernel>(FloatingTypes{})},
      {&one_hot_op, any_type(one_hot_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
