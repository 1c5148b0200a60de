// Kernels that pick parts by index.
#include "ops/gather.h"

#include "cpu/indices.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "cpu/view.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"

namespace capstan::cpu {
namespace {

/// Params as [batch, outer, limit, inner], indices as [batch, count], output as [batch, outer, count, inner].
struct GatherPlan {
  std::int64_t batch = 1, outer = 1, limit = 1, inner = 1, count = 1;

  GatherPlan(const Shape& params, const Shape& indices, std::int64_t axis, std::int64_t batch_dims) {
    const int first = static_cast<int>(batch_dims), at = static_cast<int>(axis);
    batch = count_of(params, 0, first);
    outer = count_of(params, first, at);
    limit = params[at];
    inner = count_of(params, at + 1, params.rank());
    count = count_of(indices, first, indices.rank());
  }
};

template <class Index>
void check_indices(const KernelContext& context, std::int64_t limit) {
  const Tensor& indices = context.input(1);
  const Index* index = context.data<Index>(1);
  for (std::int64_t i = 0; i < indices.size(); ++i)
    if (index[i] < 0 || std::int64_t{index[i]} >= limit)
      fail_index(context, "indices", indices.shape(), i, index[i], limit);
}

template <class T, class Index>
void gather_parts(KernelContext& context, const GatherPlan& plan) {
  const T* from = context.data<T>(0);
  const Index* index = context.data<Index>(1);
  T* to = context.make_output<T>(0);
  if (context.output(0).size() == 0) return;
  const std::int64_t rows = plan.batch * plan.outer * plan.count;
  for_blocks(rows, std::max<std::int64_t>(1, kElementsPerBlock / plan.inner),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t row = begin; row < end; ++row) {
                 const std::int64_t group = row / plan.count, at = group / plan.outer * plan.count + row % plan.count;
                 const T* part = from + (group * plan.limit + index[at]) * plan.inner;
                 if (plan.inner == 1)
                   to[row] = *part;
                 else
                   std::copy_n(part, plan.inner, to + row * plan.inner);
               }
             });
}

void gather_kernel(KernelContext& context) {
  const Shape& params = context.input(0).shape();
  const Shape& indices = context.input(1).shape();
  std::int64_t axis = integers_of(context.input(2))[0];
  if (axis < 0) axis += params.rank();
  std::int64_t batch = context.attributes<GatherAttributes>().batch_dims;
  if (batch < 0) batch += indices.rank();
  const GatherPlan plan(params, indices, axis, batch);
  visit_index(context.input(1).dtype(), [&]<class Index>() {
    check_indices<Index>(context, plan.limit);
    visit_storage(context.input(0).dtype(), [&]<class T>() { gather_parts<T, Index>(context, plan); });
  });
}

void gather_nd_kernel(KernelContext& context) {
  const Shape& params = context.input(0).shape();
  const std::vector<std::int64_t> offsets =
      part_offsets(context, context.input(1), params, context.attributes<BadIndices>().ignores());
  const std::int64_t inner = count_of(params, static_cast<int>(context.input(1).shape().dim(-1)), params.rank());
  visit_storage(context.input(0).dtype(), [&]<class T>() {
    const T* from = context.data<T>(0);
    T* to = context.make_output<T>(0);
    if (inner == 0) return;
    for_blocks(static_cast<std::int64_t>(offsets.size()), std::max<std::int64_t>(1, kElementsPerBlock / inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const std::int64_t at = offsets[static_cast<std::size_t>(row)];
                   if (at < 0)
                     std::fill_n(to + row * inner, inner, T());
                   else
                     std::copy_n(from + at * inner, inner, to + row * inner);
                 }
               });
  });
}

}  // namespace

KernelTable gather_kernels() {
  static const KernelRow rows[] = {
      {&gather_v2_op, any_type(gather_kernel)},
      {&gather_nd_op, any_type(gather_nd_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
