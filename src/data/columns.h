// Tensors in memory as rows: what `from_tensor_slices` reads.
#pragma once

#include <span>
#include <vector>

#include "data/stream.h"

namespace capstan::data::detail {

/// One component of the rows: slices of a tensor along its first axis, perhaps converted while they are read.
class Column {
 public:
  /// Slices as they are. Throws InvalidArgument for a scalar.
  explicit Column(Tensor values);
  /// Slices of a uint8 tensor as float32 numbers from 0 to 1.
  static Column scaled_bytes(Tensor values);

  std::int64_t rows() const { return values_.dim(0); }
  const Shape& values_shape() const { return values_.shape(); }
  /// One slice.
  Tensor row(Row row) const;
  /// Slices stacked in this order.
  Tensor gather(std::span<const Row> rows) const;

 private:
  void copy_row(Row row, std::byte* to) const;

  Tensor values_;
  DType dtype_;
  Shape row_shape_;
  std::int64_t row_size_ = 0;  // elements
};

/// Columns of the same number of rows.
class Columns {
 public:
  /// Throws InvalidArgument if the numbers of rows differ.
  explicit Columns(std::vector<Column> columns);
  std::int64_t rows() const { return columns_[0].rows(); }
  Components row(Row row) const;
  Components gather(std::span<const Row> rows) const;

 private:
  std::vector<Column> columns_;
};

/// Copies elements of any type between arrays that do not overlap; those at `to` are valid objects.
void copy_elements(DType dtype, const void* from, void* to, std::int64_t count);

/// The dataset of the rows of columns.
Pipeline pipeline_of(std::vector<Column> columns);

}  // namespace capstan::data::detail
