// Bodies of the `constant` templates of tensor.h.
#pragma once

#include "capstan/tensor/tensor.h"

namespace capstan {
namespace detail {

/// Flattens nested braces into one vector and notes the length of each level.
template <class T>
class LiteralReader {
 public:
  void read(const T& value) { values_.emplace_back(value); }
  template <class Inner>
  void read(std::initializer_list<Inner> level, int depth = 0) {
    const auto length = static_cast<std::int64_t>(level.size());
    if (depth == static_cast<int>(dims_.size()))
      dims_.push_back(length);
    else if (dims_[static_cast<std::size_t>(depth)] != length)
      throw_ragged_literal(depth);
    for (const Inner& element : level) {
      if constexpr (std::same_as<Inner, T>)
        read(element);
      else
        read(element, depth + 1);
    }
  }
  Tensor tensor() const { return tensor(Shape(dims_)); }
  Tensor tensor(const Shape& shape) const {
    using Value = literal_t<T>;
    if constexpr (std::same_as<Value, bool>) {  // std::vector<bool> has no data()
      std::vector<char> bytes(values_.begin(), values_.end());
      return constant(std::span(reinterpret_cast<const bool*>(bytes.data()), bytes.size()), shape);
    } else {
      return constant(std::span<const Value>(values_), shape);
    }
  }

 private:
  std::vector<literal_t<T>> values_;
  std::vector<std::int64_t> dims_;
};

void check_element_count(std::size_t count, const Shape& shape);

template <class T, class Level>
Tensor read_literal(Level values) {
  LiteralReader<T> reader;
  reader.read(values);
  return reader.tensor();
}

}  // namespace detail

template <Element T>
Tensor constant(std::span<const T> values, const Shape& shape) {
  detail::check_element_count(values.size(), shape);
  if constexpr (std::same_as<T, std::string>)
    return detail::make_string_tensor(values, shape);
  else
    return detail::make_tensor(values.data(), dtype_of<T>(), shape);
}

template <detail::LiteralElement T>
Tensor constant(detail::Nested1<T> values) {
  return detail::read_literal<T>(values);
}
template <detail::LiteralElement T>
Tensor constant(detail::Nested2<T> values) {
  return detail::read_literal<T>(values);
}
template <detail::LiteralElement T>
Tensor constant(detail::Nested3<T> values) {
  return detail::read_literal<T>(values);
}
template <detail::LiteralElement T>
Tensor constant(detail::Nested4<T> values) {
  return detail::read_literal<T>(values);
}
template <detail::LiteralElement T>
Tensor constant(detail::Nested1<T> values, const Shape& shape) {
  detail::LiteralReader<T> reader;
  reader.read(values);
  return reader.tensor(shape);
}

}  // namespace capstan
