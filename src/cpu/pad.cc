// Kernels of padding and repeating.
#include "ops/pad.h"

#include <vector>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

void pad_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Shape& padded = context.output_spec(0).shape;
  const std::vector<std::int64_t> paddings = integers_of(context.input(1));
  visit_storage(input.dtype(), [&]<class T>() {
    const T value = context.input_count() == 3 ? *context.data<T>(2) : T();
    T* to = context.make_output<T>(0);
    for_blocks(context.output(0).size(), 4 * kElementsPerBlock,
               [&](std::int64_t begin, std::int64_t end) { std::fill(to + begin, to + end, value); });
    if (input.size() == 0) return;
    const auto strides = row_major_strides(padded);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < strides.size(); ++i) offset += paddings[2 * i] * strides[i];
    View view(offset);
    for (std::size_t i = 0; i < strides.size(); ++i) view.add(input.shape()[static_cast<int>(i)], strides[i]);
    copy_to_view(context.data<T>(0), to, view);
  });
}

/// For each place of a padded dimension the place whose image it is.
std::vector<std::int64_t> mirror_places(std::int64_t size, std::int64_t before, std::int64_t after, std::int64_t edge) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = -before; i < size + after; ++i)
    places.push_back(i < 0 ? -i - 1 + edge : i < size ? i : 2 * size - 1 - edge - i);
  return places;
}

/// Calls `body(element of the padded array, element of the inner one)` for every element of the padded array.
template <class Body>
void for_mirrored(const Shape& inner, const Shape& padded, const std::vector<std::int64_t>& paddings,
                  const std::string& mode, Body&& body) {
  const std::int64_t count = padded.num_elements();
  if (count == 0) return;
  const auto strides = row_major_strides(inner);
  std::vector<std::vector<std::int64_t>> places;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    places.push_back(
        mirror_places(inner[static_cast<int>(i)], paddings[2 * i], paddings[2 * i + 1], mode == "REFLECT"));
    for (std::int64_t& place : places.back()) place *= strides[i];
  }
  const std::vector<std::int64_t> scalar{0};
  const std::vector<std::int64_t>& last = places.empty() ? scalar : places.back();
  const auto row = static_cast<std::int64_t>(last.size());
  for (std::int64_t first = 0; first < count; first += row) {
    std::int64_t rest = first / row, from = 0;
    for (std::size_t i = places.size(); i-- > 1;) {
      const auto size = static_cast<std::int64_t>(places[i - 1].size());
      from += places[i - 1][static_cast<std::size_t>(rest % size)];
      rest /= size;
    }
    for (std::int64_t i = 0; i < row; ++i) body(first + i, from + last[static_cast<std::size_t>(i)]);
  }
}

void mirror_pad_kernel(KernelContext& context) {
  const std::vector<std::int64_t> paddings = integers_of(context.input(1));
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    const T* from = context.data<T>(0);
    T* to = context.make_output<T>(0);
    for_mirrored(context.input(0).shape(), context.output(0).shape(), paddings,
                 context.attributes<MirrorPadAttributes>().mode,
                 [&](std::int64_t outer, std::int64_t inner) { to[outer] = from[inner]; });
  });
}

template <class T>
void mirror_pad_grad_kernel(KernelContext& context) {
  const std::vector<std::int64_t> paddings = integers_of(context.input(1));
  const T* from = context.data<T>(0);
  T* to = context.make_output<T>(0);
  std::vector<Accumulator<T>> sums(static_cast<std::size_t>(context.output(0).size()));
  for_mirrored(context.output(0).shape(), context.input(0).shape(), paddings,
               context.attributes<MirrorPadAttributes>().mode, [&](std::int64_t outer, std::int64_t inner) {
                 Accumulator<T>& sum = sums[static_cast<std::size_t>(inner)];
                 sum = WrappingAdd{}(sum, static_cast<Accumulator<T>>(from[outer]));
               });
  for (std::size_t i = 0; i < sums.size(); ++i) to[i] = static_cast<T>(sums[i]);
}

template <class... Types>
KernelSet mirror_pad_grad_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), mirror_pad_grad_kernel<Types>), ...);
  return kernels;
}

void tile_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const std::vector<std::int64_t> multiples = integers_of(context.input(1));
  visit_storage(input.dtype(), [&]<class T>() {
    T* to = context.make_output<T>(0);
    if (context.output(0).size() == 0) return;
    const auto strides = row_major_strides(input.shape());
    View view;
    for (std::size_t i = 0; i < strides.size(); ++i) {
      view.add(multiples[i], 0);
      view.add(input.shape()[static_cast<int>(i)], strides[i]);
    }
    copy_from_view(context.data<T>(0), view, to);
  });
}

}  // namespace

KernelTable pad_kernels() {
  static const KernelRow rows[] = {
      {&pad_op, any_type(pad_kernel)},
      {&pad_v2_op, any_type(pad_kernel)},
      {&mirror_pad_op, any_type(mirror_pad_kernel)},
      {&mirror_pad_grad_op, mirror_pad_grad_kernels(NumberTypes{})},
      {&tile_op, any_type(tile_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
