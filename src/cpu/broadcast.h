// NumPy's broadcasting of two arrays, reduced to as few dimensions as possible: neighbours that both arrays walk
// through in the same way become one.
#pragma once

#include <array>
#include <cstdint>

#include "capstan/op/small_vector.h"
#include "capstan/tensor/shape.h"

namespace capstan::cpu {

class BroadcastPlan {
 public:
  struct Dim {
    std::int64_t size = 1;
    std::int64_t stride_a = 0;  // in elements; 0 where the array is repeated
    std::int64_t stride_b = 0;
  };

  BroadcastPlan(const Shape& a, const Shape& b, const Shape& out);

  /// The innermost dimension: its strides are 0 or 1.
  const Dim& inner() const { return dims_.back(); }
  std::int64_t row_count() const { return rows_; }
  /// Where row `row` begins in the two arrays.
  struct Offsets {
    std::int64_t a = 0;
    std::int64_t b = 0;
  };
  Offsets row(std::int64_t row) const;
  /// The dimensions, outermost first.
  const SmallVector<Dim, 6>& dims() const { return dims_; }

 private:
  SmallVector<Dim, 6> dims_;  // outermost first
  std::int64_t rows_ = 1;
};

/// Walks through consecutive rows of a plan without dividing for each.
class RowCursor {
 public:
  RowCursor(const BroadcastPlan& plan, std::int64_t row);
  std::int64_t a() const { return at_.a; }
  std::int64_t b() const { return at_.b; }
  void next() {
    for (std::size_t i = counters_.size(); i-- > 0;) {
      const BroadcastPlan::Dim& dim = plan_.dims()[i];
      at_.a += dim.stride_a;
      at_.b += dim.stride_b;
      if (++counters_[i] < dim.size) return;
      counters_[i] = 0;
      at_.a -= dim.stride_a * dim.size;
      at_.b -= dim.stride_b * dim.size;
    }
  }

 private:
  const BroadcastPlan& plan_;
  BroadcastPlan::Offsets at_;
  SmallVector<std::int64_t, 6> counters_;  // place within each dimension but the innermost
};

}  // namespace capstan::cpu
