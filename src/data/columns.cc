#include "data/columns.h"

#include <array>
#include <cstring>
#include <string>

#include "capstan/base/error.h"
#include "tensor/handle.h"
#include "tensor/storage.h"

namespace capstan::data::detail {
namespace {

template <class T>
void copy_objects(const void* from, void* to, std::int64_t count) {
  std::copy_n(static_cast<const T*>(from), count, static_cast<T*>(to));
}

const std::array<float, 256>& bytes_from_0_to_1() {
  static constexpr auto table = [] {
    std::array<float, 256> values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 255.f;
    return values;
  }();
  return table;
}

Shape without_first_axis(const Shape& shape) {
  Shape rest = shape;
  rest.erase(0);
  return rest;
}

}  // namespace

void copy_elements(DType dtype, const void* from, void* to, std::int64_t count) {
  switch (dtype) {
    case DType::string:
      return copy_objects<std::string>(from, to, count);
    case DType::resource:
      return copy_objects<ResourceHandle>(from, to, count);
    case DType::variant:
      return copy_objects<Variant>(from, to, count);
    default:
      if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * dtype_size(dtype));
  }
}

Column::Column(Tensor values) : values_(std::move(values)), dtype_(values_.dtype()) {
  if (values_.is_symbolic())
    throw InvalidArgument("from_tensor_slices: the tensors must have values, got a symbolic one of shape " +
                          values_.shape().to_string() + "; make the dataset outside of the function");
  if (values_.rank() == 0)
    throw InvalidArgument("from_tensor_slices: each tensor needs a first axis to slice along, got a scalar of type " +
                          std::string(dtype_name(dtype_)) + "; from_tensors makes a dataset of one element");
  row_shape_ = without_first_axis(values_.shape());
  row_size_ = row_shape_.num_elements();
}

Column Column::scaled_bytes(Tensor values) {
  Column column(std::move(values));
  column.dtype_ = DType::float32;
  return column;
}

void Column::copy_row(Row row, std::byte* to) const {
  const DType stored = values_.dtype();
  const auto offset = static_cast<std::size_t>(row * row_size_) * dtype_size(stored);
  const auto* from = static_cast<const std::byte*>(values_.raw_data()) + offset;
  if (stored == dtype_) return copy_elements(stored, from, to, row_size_);
  const auto& scaled = bytes_from_0_to_1();
  auto* numbers = reinterpret_cast<float*>(to);
  for (std::int64_t i = 0; i < row_size_; ++i) numbers[i] = scaled[std::to_integer<std::size_t>(from[i])];
}

Tensor Column::row(Row row) const {
  Tensor slice = new_tensor(dtype_, row_shape_);
  copy_row(row, static_cast<std::byte*>(mutable_data(slice)));
  return slice;
}

Tensor Column::gather(std::span<const Row> rows) const {
  Shape shape = row_shape_;
  shape.insert(0, static_cast<std::int64_t>(rows.size()));
  Tensor batch = new_tensor(dtype_, shape);
  auto* to = static_cast<std::byte*>(mutable_data(batch));
  for (const Row row : rows) {
    copy_row(row, to);
    to += static_cast<std::size_t>(row_size_) * dtype_size(dtype_);
  }
  return batch;
}

Columns::Columns(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (std::size_t i = 1; i < columns_.size(); ++i)
    if (columns_[i].rows() != columns_[0].rows())
      throw InvalidArgument("from_tensor_slices: the first axes must have the same size, got shapes " +
                            columns_[0].values_shape().to_string() + " and " + columns_[i].values_shape().to_string() +
                            " (" + std::to_string(columns_[0].rows()) + " against " +
                            std::to_string(columns_[i].rows()) + ", tensor " + std::to_string(i) + ")");
}

Components Columns::row(Row row) const {
  Components components;
  components.reserve(columns_.size());
  for (const Column& column : columns_) components.push_back(column.row(row));
  return components;
}

Components Columns::gather(std::span<const Row> rows) const {
  Components components;
  components.reserve(columns_.size());
  for (const Column& column : columns_) components.push_back(column.gather(rows));
  return components;
}

}  // namespace capstan::data::detail
