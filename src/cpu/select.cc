// Kernels that choose between two tensors, and that bound values.
#include "ops/select.h"

#include "cpu/element.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

/// An array that is walked through, or one element that is repeated.
template <class T>
struct Walk {
  const T* data;
  std::int64_t step;
  const T& operator[](std::int64_t i) const { return data[i * step]; }
};

template <class T>
void select_elements(Walk<bool> condition, Walk<T> t, Walk<T> e, T* out, std::int64_t count) {
  for_blocks(count, kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    if (condition.step && t.step && e.step)
      for (std::int64_t i = begin; i < end; ++i) out[i] = condition.data[i] ? t.data[i] : e.data[i];
    else
      for (std::int64_t i = begin; i < end; ++i) out[i] = condition[i] ? t[i] : e[i];
  });
}

/// Copies the elements of `from` to where the condition is `wanted`; the rest of `out` stays.
template <class T>
void select_broadcast(const KernelContext& context, std::size_t from, bool wanted, T* out) {
  const BroadcastPlan plan(context.input(0).shape(), context.input(from).shape(), context.output_spec(0).shape);
  const bool* condition = context.data<bool>(0);
  const T* values = context.data<T>(from);
  const auto inner = plan.inner();
  for_blocks(plan.row_count(), std::max<std::int64_t>(1, kElementsPerBlock / inner.size),
             [&](std::int64_t begin, std::int64_t end) {
               T* to = out + begin * inner.size;
               for (RowCursor row(plan, begin); begin < end; ++begin, row.next())
                 for (std::int64_t i = 0; i < inner.size; ++i, ++to)
                   if (condition[row.a() + i * inner.stride_a] == wanted) *to = values[row.b() + i * inner.stride_b];
             });
}

/// Does the input have the output's shape, or one element?
bool is_simple(const KernelContext& context, std::size_t i) {
  return context.input(i).size() == 1 || context.input(i).shape() == context.output_spec(0).shape;
}

void select_v2_kernel(KernelContext& context) {
  visit_storage(context.input(1).dtype(), [&]<class T>() {
    T* out = context.make_output<T>(0);
    const std::int64_t count = context.output(0).size();
    if (!count) return;
    if (!is_simple(context, 0) || !is_simple(context, 1) || !is_simple(context, 2)) {
      select_broadcast(context, 1, true, out);
      return select_broadcast(context, 2, false, out);
    }
    const auto step = [&](std::size_t i) { return std::int64_t{context.input(i).size() != 1}; };
    select_elements<T>({context.data<bool>(0), step(0)}, {context.data<T>(1), step(1)}, {context.data<T>(2), step(2)},
                       out, count);
  });
}

/// The condition is a scalar, a vector that chooses among rows, or has the shape of the values: each of its elements
/// chooses for `run` elements that lie side by side.
void select_kernel(KernelContext& context) {
  visit_storage(context.input(1).dtype(), [&]<class T>() {
    T* out = context.make_output<T>(0);
    const std::int64_t count = context.output(0).size();
    if (!count) return;
    const bool* condition = context.data<bool>(0);
    const std::int64_t choices = context.input(0).size(), run = count / choices;
    if (run == 1)
      return select_elements<T>({condition, 1}, {context.data<T>(1), 1}, {context.data<T>(2), 1}, out, count);
    for (std::int64_t i = 0; i < choices; ++i)
      std::copy_n(context.data<T>(condition[i] ? 1 : 2) + i * run, run, out + i * run);
  });
}

template <class T>
void clip_kernel(KernelContext& context) {
  T* out = context.make_output_over<T>(0, 0);
  const Walk<T> low{context.data<T>(1), context.input(1).size() != 1},
      high{context.data<T>(2), context.input(2).size() != 1};
  const T* x = context.data<T>(0);
  for_blocks(context.output(0).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T below = x[i] > high[i] ? high[i] : x[i];  // NaN stays
      out[i] = below < low[i] ? low[i] : below;
    }
  });
}

template <class... Types>
KernelSet clip_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), clip_kernel<Types>), ...);
  return kernels;
}

}  // namespace

KernelTable select_kernels() {
  static const KernelRow rows[] = {
      {&select_op, any_type(select_kernel)},
      {&select_v2_op, any_type(select_v2_kernel)},
      {&clip_by_value_op, clip_kernels(RealTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
