// Kernels whose output sizes depend on values.
#include "ops/stitch.h"

#include <unordered_map>
#include <vector>

#include "cpu/indices.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "tensor/element_count.h"
#include "tensor/type_switch.h"

namespace capstan::cpu {
namespace {

void dynamic_partition_kernel(KernelContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& partitions = context.input(1);
  const auto* number = context.data<std::int32_t>(1);
  const auto count = static_cast<std::int64_t>(context.output_count());
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < partitions.size(); ++i) {
    if (number[i] < 0 || number[i] >= count) fail_index(context, "partitions", partitions.shape(), i, number[i], count);
    ++sizes[static_cast<std::size_t>(number[i])];
  }
  visit_storage(data.dtype(), [&]<class T>() {
    std::vector<T*> to;
    for (std::size_t part = 0; part < sizes.size(); ++part) {
      Shape shape{sizes[part]};
      for (int i = partitions.rank(); i < data.rank(); ++i) shape.push_back(data.shape()[i]);
      to.push_back(static_cast<T*>(context.make_output(part, shape)));
    }
    const std::int64_t inner = count_of(data.shape(), partitions.rank(), data.rank());
    const T* from = context.data<T>(0);
    for (std::int64_t i = 0; i < partitions.size(); ++i) {
      T*& at = to[static_cast<std::size_t>(number[i])];
      std::copy_n(from + i * inner, inner, at);
      at += inner;
    }
  });
}

void dynamic_stitch_kernel(KernelContext& context) {
  const std::size_t count = context.input_count() / 2;
  const Shape shape = context.output_spec(0).shape;
  for (std::size_t k = 0; k < count; ++k) {
    const auto* index = context.data<std::int32_t>(k);
    for (std::int64_t i = 0; i < context.input(k).size(); ++i)
      if (index[i] < 0)
        fail_index(context, "indices[" + std::to_string(k) + "]", context.input(k).shape(), i, index[i], shape[0]);
  }
  visit_storage(context.output_spec(0).dtype, [&]<class T>() {
    T* to = context.make_output<T>(0);
    std::fill_n(to, context.output(0).size(), T());
    const std::int64_t inner = count_of(shape, 1, shape.rank());
    for (std::size_t k = 0; k < count; ++k) {
      const auto* index = context.data<std::int32_t>(k);
      const T* from = context.data<T>(count + k);
      for (std::int64_t i = 0; i < context.input(k).size(); ++i)
        std::copy_n(from + i * inner, inner, to + std::int64_t{index[i]} * inner);
    }
  });
}

/// Numbers the elements by first occurrence. NaN differs from itself, as everywhere.
template <class T, class Index>
void unique(KernelContext& context) {
  using Key = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;
  const std::int64_t count = context.input(0).size();
  const T* x = context.data<T>(0);
  std::unordered_map<Key, Index> numbers;
  std::vector<std::int64_t> first;
  std::vector<Index> places(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [found, is_new] = numbers.try_emplace(static_cast<Key>(x[i]), static_cast<Index>(first.size()));
    if (is_new) first.push_back(i);
    places[static_cast<std::size_t>(i)] = found->second;
  }
  T* values = static_cast<T*>(context.make_output(0, Shape{static_cast<std::int64_t>(first.size())}));
  for (std::size_t i = 0; i < first.size(); ++i) values[i] = x[first[i]];
  std::ranges::copy(places, context.make_output<Index>(1));
}

template <class T>
void unique_kernel(KernelContext& context) {
  if (context.output_spec(1).dtype == DType::int64) return unique<T, std::int64_t>(context);
  if (context.input(0).size() > std::numeric_limits<std::int32_t>::max())
    context.fail("the vector has " + std::to_string(context.input(0).size()) + " elements; ask for out_idx int64");
  unique<T, std::int32_t>(context);
}

template <class... Types>
KernelSet unique_kernels() {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), unique_kernel<Types>), ...);
  return kernels;
}

void where_kernel(KernelContext& context) {
  const Shape shape = context.input(0).shape();
  visit_number(context.input(0).dtype(), [&]<class T>() {
    const T* x = context.data<T>(0);
    const std::int64_t size = context.input(0).size();
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < size; ++i)
      if (x[i] != T(0)) found.push_back(i);
    auto* to = static_cast<std::int64_t*>(
        context.make_output(0, Shape{static_cast<std::int64_t>(found.size()), shape.rank()}));
    for (std::int64_t at : found) {
      for (int i = shape.rank(); i-- > 0; at /= shape[i]) to[i] = at % shape[i];
      to += shape.rank();
    }
  });
}

}  // namespace

KernelTable stitch_kernels() {
  static const KernelRow rows[] = {
      {&dynamic_partition_op, any_type(dynamic_partition_kernel)},
      {&dynamic_stitch_op, any_type(dynamic_stitch_kernel)},
      {&unique_op,
       unique_kernels<float16, bfloat16, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool, std::string>()},
      {&where_op, any_type(where_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
