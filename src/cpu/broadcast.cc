#include "cpu/broadcast.h"

namespace capstan::cpu {
namespace {

std::int64_t size_at(const Shape& shape, int axis) { return axis < 0 ? 1 : shape[axis]; }

}  // namespace

BroadcastPlan::BroadcastPlan(const Shape& a, const Shape& b, const Shape& out) {
  // From the innermost dimension outwards, so that strides grow as we go.
  SmallVector<Dim, 6> inner_first;
  std::int64_t step_a = 1, step_b = 1;
  for (int i = 0; i < out.rank(); ++i) {
    const std::int64_t size = out[out.rank() - 1 - i];
    const std::int64_t size_a = size_at(a, a.rank() - 1 - i), size_b = size_at(b, b.rank() - 1 - i);
    if (size == 1) continue;
    const Dim dim{size, size_a == 1 ? 0 : step_a, size_b == 1 ? 0 : step_b};
    step_a *= size_a;
    step_b *= size_b;
    if (!inner_first.empty()) {
      Dim& last = inner_first.back();
      if (dim.stride_a == last.stride_a * last.size && dim.stride_b == last.stride_b * last.size) {
        last.size *= size;
        continue;
      }
    }
    inner_first.push_back(dim);
  }
  if (inner_first.empty()) inner_first.push_back({1, 1, 1});
  for (std::size_t i = inner_first.size(); i-- > 0;) dims_.push_back(inner_first[i]);
  for (std::size_t i = 0; i + 1 < dims_.size(); ++i) rows_ *= dims_[i].size;
}

BroadcastPlan::Offsets BroadcastPlan::row(std::int64_t row) const {
  Offsets offsets;
  for (std::size_t i = dims_.size() - 1; i-- > 0;) {
    const Dim& dim = dims_[i];
    const std::int64_t at = row % dim.size;
    row /= dim.size;
    offsets.a += at * dim.stride_a;
    offsets.b += at * dim.stride_b;
  }
  return offsets;
}

RowCursor::RowCursor(const BroadcastPlan& plan, std::int64_t row) : plan_(plan), at_(plan.row(row)) {
  const std::size_t outer = plan.dims().size() - 1;
  for (std::size_t i = 0; i < outer; ++i) counters_.push_back(0);
  for (std::size_t i = outer; i-- > 0;) {
    counters_[i] = row % plan.dims()[i].size;
    row /= plan.dims()[i].size;
  }
}

}  // namespace capstan::cpu
