// Kernels of the matrix products.
#include <algorithm>
#include <vector>

#include "cpu/broadcast.h"
#include "cpu/elementwise.h"
#include "cpu/gemm.h"
#include "cpu/linalg.h"
#include "cpu/tables.h"
#include "ops/linalg.h"

namespace capstan::cpu {
namespace {

template <class T>
void mat_mul_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<MatMulAttributes>();
  const Shape& product = context.output_spec(0).shape;
  const std::int64_t k = context.input(0).shape()[attributes.transpose_a ? 0 : 1];
  T* c = context.make_output<T>(0);
  multiply(Product{product[0], product[1], k, attributes.transpose_a, attributes.transpose_b}, context.data<T>(0),
           context.data<T>(1), c);
}

Shape batch_of(const Shape& shape) { return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 2))); }

/// Where each product's matrices begin.
struct Offsets {
  std::vector<std::int64_t> x, y;
};
Offsets matrix_offsets(const Shape& x, const Shape& y, const Shape& output, std::int64_t x_size, std::int64_t y_size) {
  const Shape batch = batch_of(output);
  const auto count = static_cast<std::size_t>(batch.num_elements());
  Offsets offsets{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count)};
  if (!count) return offsets;
  const BroadcastPlan plan(batch_of(x), batch_of(y), batch);
  const BroadcastPlan::Dim inner = plan.inner();
  std::size_t at = 0;
  for (std::int64_t row = 0; row < plan.row_count(); ++row) {
    const auto begin = plan.row(row);
    for (std::int64_t i = 0; i < inner.size; ++i, ++at) {
      offsets.x[at] = (begin.a + i * inner.stride_a) * x_size;
      offsets.y[at] = (begin.b + i * inner.stride_b) * y_size;
    }
  }
  return offsets;
}

template <class T>
void batch_mat_mul_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<BatchMatMulAttributes>();
  const Shape &x = context.input(0).shape(), &y = context.input(1).shape(), &output = context.output_spec(0).shape;
  Product product{output[output.rank() - 2], output[output.rank() - 1], x[x.rank() - (attributes.adj_x ? 2 : 1)],
                  attributes.adj_x,          attributes.adj_y,          attributes.adj_x,
                  attributes.adj_y};
  T* c = context.make_output<T>(0);
  if (y.rank() == 2 && !attributes.adj_x) {  // one matrix for all: the rows of x lie below each other
    product.m = product.k || product.n ? context.output(0).size() / std::max<std::int64_t>(product.n, 1) : 0;
    return multiply(product, context.data<T>(0), context.data<T>(1), c);
  }
  const Offsets offsets = matrix_offsets(x, y, output, product.m * product.k, product.k * product.n);
  multiply_batch(product, context.data<T>(0), std::span<const std::int64_t>(offsets.x), context.data<T>(1),
                 std::span<const std::int64_t>(offsets.y), c);
}

template <class... Types>
constexpr KernelSet mat_mul_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), mat_mul_kernel<Types>), ...);
  return kernels;
}
template <class... Types>
constexpr KernelSet batch_mat_mul_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), batch_mat_mul_kernel<Types>), ...);
  return kernels;
}

}  // namespace

KernelTable linalg_kernels() {
  static const KernelRow rows[] = {
      {&mat_mul_op, mat_mul_kernels(NumberTypes{})},
      {&batch_mat_mul_op, batch_mat_mul_kernels(NumberTypes{})},
      {&batch_mat_mul_v2_op, batch_mat_mul_kernels(NumberTypes{})},
      {&einsum_op, einsum_kernels()},
  };
  return rows;
}

}  // namespace capstan::cpu
