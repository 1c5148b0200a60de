#include "cpu/elementwise.h"

namespace capstan::cpu {
namespace {

/// Rows up to this length are not worth a call each.
constexpr std::int64_t kShortRow = 16;

const char* at(const void* base, std::int64_t index, std::size_t size) {
  return static_cast<const char*>(base) + index * static_cast<std::int64_t>(size);
}
char* at(void* base, std::int64_t index, std::size_t size) {
  return static_cast<char*>(base) + index * static_cast<std::int64_t>(size);
}

/// Shapes of known rank, compared without a call: it is on the way of every small operation.
bool same(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

void run_rows(const BroadcastPlan& plan, const BinaryLoops& loops, const void* x, const void* y, void* out,
              std::int64_t begin, std::int64_t end) {
  const BroadcastPlan::Dim inner = plan.inner();
  const auto loop = inner.stride_a && inner.stride_b ? loops.vv : inner.stride_a ? loops.vs : loops.sv;
  for (RowCursor row(plan, begin); begin < end; ++begin, row.next())
    loop(at(x, row.a(), loops.input_size), at(y, row.b(), loops.input_size),
         at(out, begin * inner.size, loops.output_size), inner.size);
}

// Apart, so that the way of equal shapes needs no stack for the plan.
[[gnu::noinline]] void run_broadcast(KernelContext& context, const BinaryLoops& loops, const void* x, const void* y,
                                     void* out) {
  const BroadcastPlan plan(context.input(0).shape(), context.input(1).shape(), context.output_spec(0).shape);
  run_broadcast(plan, loops, x, y, out);
}

}  // namespace

void run_unary(KernelContext& context, const UnaryLoops& loops) {
  const void* x = context.data<char>(0);
  void* out = context.make_output_over<char>(0, 0);  // makes a new one if the sizes differ
  for_blocks(context.input(0).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    loops.row(at(x, begin, loops.input_size), at(out, begin, loops.output_size), end - begin);
  });
}

void run_binary(KernelContext& context, const BinaryLoops& loops) {
  const Shape& shape = context.output_spec(0).shape;
  const void* x = context.data<char>(0);
  const void* y = context.data<char>(1);
  const bool fits_x = same(context.input(0).shape(), shape), fits_y = same(context.input(1).shape(), shape);
  void* out = context.make_output_over<char>(0, context.can_take_over(0, 0) ? 0 : 1);
  const std::int64_t count = context.output(0).size();
  if (fits_x && fits_y) [[likely]] {
    for_blocks(count, kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
      loops.vv(at(x, begin, loops.input_size), at(y, begin, loops.input_size), at(out, begin, loops.output_size),
               end - begin);
    });
  } else if (count > 0) {
    run_broadcast(context, loops, x, y, out);
  }
}

void run_broadcast(const BroadcastPlan& plan, const BinaryLoops& loops, const void* x, const void* y, void* out) {
  const std::int64_t size = plan.inner().size;
  if (plan.row_count() == 1 && size > kElementsPerBlock) {  // one long row, as beside a scalar: cut it
    const BroadcastPlan::Dim inner = plan.inner();
    const auto loop = inner.stride_a && inner.stride_b ? loops.vv : inner.stride_a ? loops.vs : loops.sv;
    return for_blocks(size, kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
      loop(at(x, begin * inner.stride_a, loops.input_size), at(y, begin * inner.stride_b, loops.input_size),
           at(out, begin, loops.output_size), end - begin);
    });
  }
  const std::int64_t rows_per_block = std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, size));
  for_blocks(plan.row_count(), rows_per_block, [&](std::int64_t begin, std::int64_t end) {
    if (size <= kShortRow)
      loops.short_rows(x, y, at(out, begin * size, loops.output_size), plan, begin, end);
    else
      run_rows(plan, loops, x, y, out, begin, end);
  });
}

}  // namespace capstan::cpu
