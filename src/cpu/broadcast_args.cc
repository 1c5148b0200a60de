// Kernels of broadcasting two shapes that are values.
#include "ops/broadcast_args.h"

#include <algorithm>
#include <vector>

#include "cpu/tables.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

/// The two shapes with ones in front of the shorter one.
struct Aligned {
  std::vector<std::int64_t> a, b;

  explicit Aligned(const KernelContext& context) : a(integers_of(context.input(0))), b(integers_of(context.input(1))) {
    const std::size_t rank = std::max(a.size(), b.size());
    a.insert(a.begin(), rank - a.size(), 1);
    b.insert(b.begin(), rank - b.size(), 1);
    for (std::size_t i = 0; i < rank; ++i)
      if (a[i] != b[i] && a[i] != 1 && b[i] != 1)
        context.fail("the shapes do not broadcast: sizes " + std::to_string(a[i]) + " and " + std::to_string(b[i]) +
                     " in dimension " + std::to_string(i) + " must be equal or one of them 1");
  }
};

template <class T>
void write(KernelContext& context, std::size_t output, const std::vector<std::int64_t>& values) {
  T* to = static_cast<T*>(context.make_output(output, Shape{static_cast<std::int64_t>(values.size())}));
  std::ranges::transform(values, to, [](std::int64_t value) { return static_cast<T>(value); });
}

template <class T>
void broadcast_args_kernel(KernelContext& context) {
  const Aligned shapes(context);
  std::vector<std::int64_t> both;
  for (std::size_t i = 0; i < shapes.a.size(); ++i) both.push_back(shapes.a[i] == 1 ? shapes.b[i] : shapes.a[i]);
  write<T>(context, 0, both);
}

template <class T>
void broadcast_gradient_args_kernel(KernelContext& context) {
  const Aligned shapes(context);
  std::vector<std::int64_t> axes_a, axes_b;
  const bool are_equal = integers_of(context.input(0)) == integers_of(context.input(1));
  for (std::size_t i = 0; i < shapes.a.size() && !are_equal; ++i) {
    if (shapes.a[i] == 1) axes_a.push_back(static_cast<std::int64_t>(i));
    if (shapes.b[i] == 1) axes_b.push_back(static_cast<std::int64_t>(i));
  }
  write<T>(context, 0, axes_a);
  write<T>(context, 1, axes_b);
}

KernelSet integer_kernels(Kernel narrow, Kernel wide) {
  return KernelSet{}.set(DType::int32, narrow).set(DType::int64, wide);
}

}  // namespace

KernelTable broadcast_args_kernels() {
  static const KernelRow rows[] = {
      {&broadcast_args_op, integer_kernels(broadcast_args_kernel<std::int32_t>, broadcast_args_kernel<std::int64_t>)},
      {&broadcast_gradient_args_op,
       integer_kernels(broadcast_gradient_args_kernel<std::int32_t>, broadcast_gradient_args_kernel<std::int64_t>)},
  };
  return rows;
}

}  // namespace capstan::cpu
