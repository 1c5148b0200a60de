#include "cpu/view.h"

namespace capstan::cpu {

SmallVector<std::int64_t, 6> row_major_strides(const Shape& shape) {
  SmallVector<std::int64_t, 6> strides(static_cast<std::size_t>(shape.rank()));
  if (shape.num_elements() == 0) return strides;  // nothing to walk over, and the product below could overflow
  std::int64_t step = 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[static_cast<int>(i)];
  }
  return strides;
}

void View::add(std::int64_t size, std::int64_t stride) {
  if (size == 1) return;
  if (!dims_.empty() && dims_.back().stride == stride * size) {
    dims_.back() = {dims_.back().size * size, stride};
    return;
  }
  dims_.push_back({size, stride});
}

std::int64_t View::count() const {
  std::int64_t count = 1;
  for (const Dim& dim : dims_) count *= dim.size;
  return count;
}

std::int64_t View::row_count() const {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < dims_.size(); ++i) rows *= dims_[i].size;
  return rows;
}

std::int64_t View::start(std::int64_t row, SmallVector<std::int64_t, 6>& at) const {
  std::int64_t offset = offset_;
  for (std::size_t i = dims_.size(); i-- > 1;) {
    const Dim& dim = dims_[i - 1];
    at[i - 1] = row % dim.size;
    row /= dim.size;
    offset += at[i - 1] * dim.stride;
  }
  return offset;
}

}  // namespace capstan::cpu
