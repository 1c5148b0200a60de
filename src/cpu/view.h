// Strided views of an array: parts, reversals, permutations and repetitions are all walks with a step per dimension.
// Copying a view out of an array, or an array into a view, is what most kernels of the array families do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "capstan/op/small_vector.h"
#include "capstan/tensor/shape.h"
#include "cpu/parallel.h"

namespace capstan::cpu {

/// `strides` in elements, of a row-major array of that shape.
SmallVector<std::int64_t, 6> row_major_strides(const Shape& shape);

class View {
 public:
  struct Dim {
    std::int64_t size;
    std::int64_t stride;  // in elements; negative walks backwards, 0 repeats
  };

  explicit View(std::int64_t offset = 0) : offset_(offset) {}
  /// Adds a dimension inside those added before. Neighbours that make one walk are joined.
  void add(std::int64_t size, std::int64_t stride);

  std::int64_t count() const;
  std::int64_t row_size() const { return dims_.empty() ? 1 : dims_.back().size; }
  std::int64_t row_stride() const { return dims_.empty() ? 1 : dims_.back().stride; }
  std::int64_t row_count() const;

  /// Calls `body(row, offset)` for the rows [begin, end), which are the walks along the innermost dimension.
  template <class Body>
  void for_rows(std::int64_t begin, std::int64_t end, Body&& body) const {
    SmallVector<std::int64_t, 6> at(dims_.size());
    std::int64_t offset = start(begin, at);
    for (std::int64_t row = begin; row < end; ++row) {
      body(row, offset);
      step(at, offset);
    }
  }

 private:
  std::int64_t start(std::int64_t row, SmallVector<std::int64_t, 6>& at) const;
  void step(SmallVector<std::int64_t, 6>& at, std::int64_t& offset) const {
    for (std::size_t i = dims_.size(); i-- > 1;) {
      const Dim& dim = dims_[i - 1];
      offset += dim.stride;
      if (++at[i - 1] < dim.size) return;
      offset -= dim.stride * dim.size;
      at[i - 1] = 0;
    }
  }

  SmallVector<Dim, 6> dims_;
  std::int64_t offset_;
};

/// Copies `count` elements that lie side by side, in blocks on the thread pool.
template <class T>
void copy_blocks(const T* from, std::int64_t count, T* to) {
  for_blocks(count, 4 * kElementsPerBlock,
             [&](std::int64_t begin, std::int64_t end) { std::copy(from + begin, from + end, to + begin); });
}

/// Calls `body(row, offset)` for every row of the view, rows in blocks on the thread pool.
template <class Body>
void for_view_rows(const View& view, Body&& body) {
  if (view.count() == 0) return;
  const std::int64_t rows_per_block = std::max<std::int64_t>(1, kElementsPerBlock / view.row_size());
  for_blocks(view.row_count(), rows_per_block,
             [&](std::int64_t begin, std::int64_t end) { view.for_rows(begin, end, body); });
}

/// The view's elements of `from`, written to `to` side by side.
template <class T>
void copy_from_view(const T* from, const View& view, T* to) {
  const std::int64_t size = view.row_size(), stride = view.row_stride();
  if (stride == 1 && view.row_count() == 1)
    return view.for_rows(0, 1, [&](std::int64_t, std::int64_t offset) { copy_blocks(from + offset, size, to); });
  for_view_rows(view, [&](std::int64_t row, std::int64_t offset) {
    const T* source = from + offset;
    T* target = to + row * size;
    if (stride == 1)
      std::copy_n(source, size, target);
    else if (stride == 0)
      std::fill_n(target, size, *source);
    else
      for (std::int64_t i = 0; i < size; ++i) target[i] = source[i * stride];
  });
}

/// The elements of `from`, which lie side by side, written to the view's places in `to`.
template <class T>
void copy_to_view(const T* from, T* to, const View& view) {
  const std::int64_t size = view.row_size(), stride = view.row_stride();
  if (stride == 1 && view.row_count() == 1)
    return view.for_rows(0, 1, [&](std::int64_t, std::int64_t offset) { copy_blocks(from, size, to + offset); });
  for_view_rows(view, [&](std::int64_t row, std::int64_t offset) {
    const T* source = from + row * size;
    T* target = to + offset;
    if (stride == 1)
      std::copy_n(source, size, target);
    else
      for (std::int64_t i = 0; i < size; ++i) target[i * stride] = source[i];
  });
}

}  // namespace capstan::cpu
