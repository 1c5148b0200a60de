// `Tensor`: a handle to an immutable array of elements. Copying a handle is cheap and shares the value; the value
// never changes. Every tensor that an operation returns has an identity of its own, by which gradient tapes know it.
//
//   Tensor m = constant({{1.f, 2.f}, {3.f, 4.f}});
//   m.shape();            // [2,2]
//   m.item<float>();      // throws: four elements
//   m.values<float>()[3]; // 4
//
// Handles may be used from several threads; the same handle object may not be assigned to from two at once.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capstan/tensor/detail/tensor_rep.h"
#include "capstan/tensor/dtype.h"
#include "capstan/tensor/shape.h"

namespace capstan {

class Tensor {
 public:
  /// No tensor: `is_defined()` is false and everything else but assignment throws FailedPrecondition.
  Tensor() noexcept = default;
  Tensor(const Tensor& other) noexcept : rep_(other.rep_) {
    if (rep_) rep_->refs.add();
  }
  Tensor(Tensor&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor(other).swap(*this);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }
  ~Tensor() {
    if (rep_ && rep_->refs.drop()) detail::destroy(rep_);
  }
  void swap(Tensor& other) noexcept { std::swap(rep_, other.rep_); }

  /// A tensor over the user's memory, without a copy: `data` holds `shape`'s elements in row-major order, is aligned
  /// for its type, and stays valid and unchanged until `deleter` is called, once, from any thread.
  static Tensor from_memory(void* data, DType dtype, const Shape& shape, std::function<void(void*)> deleter);

  bool is_defined() const noexcept { return rep_ != nullptr; }
  /// True for the output of a node in a graph: it has a type and a shape but no value.
  bool is_symbolic() const { return rep().is_symbolic; }
  DType dtype() const { return rep().dtype; }
  const Shape& shape() const { return rep().shape; }
  int rank() const { return rep().shape.rank(); }
  /// Size of one dimension; a negative axis counts from the end.
  std::int64_t dim(int axis) const { return rep().shape.dim(axis); }
  /// Number of elements.
  std::int64_t size() const { return rep().size; }

  /// The elements in row-major order. Throws TypeError if `T` is not the element type.
  template <Element T>
  std::span<const T> values() const {
    check_element_type(dtype_of<T>());
    return {static_cast<const T*>(raw_data()), static_cast<std::size_t>(size())};
  }
  /// The elements as a vector.
  template <Element T>
  std::vector<T> to_vector() const {
    auto all = values<T>();
    return {all.begin(), all.end()};
  }
  /// The only element. Throws InvalidArgument if there is not exactly one, TypeError if its type is another.
  template <Element T>
  T item() const {
    check_one_element("item");
    return values<T>()[0];
  }
  /// A tensor of one element as a condition: true unless it is zero, false or an empty string. Throws InvalidArgument
  /// for any other number of elements.
  explicit operator bool() const;

  /// The first element's address. The memory is 64-byte aligned unless it came from `from_memory`.
  const void* raw_data() const;
  /// Are both handles to the very same tensor (not: do their values agree)?
  bool is_same(const Tensor& other) const noexcept { return rep_ == other.rep_; }

  /// As NumPy prints arrays: long ones are summarised.
  std::string to_string() const;

  detail::TensorRep* rep_or_null() const noexcept { return rep_; }
  /// Takes over a reference that the caller owns.
  static Tensor adopt(detail::TensorRep* rep) noexcept {
    Tensor tensor;
    tensor.rep_ = rep;
    return tensor;
  }
  detail::TensorRep* release() noexcept { return std::exchange(rep_, nullptr); }

 private:
  detail::TensorRep& rep() const {
    if (!rep_) [[unlikely]]
      throw_undefined();
    return *rep_;
  }
  [[noreturn]] static void throw_undefined();
  [[noreturn]] void throw_symbolic() const;
  void check_element_type(DType asked) const;
  void check_one_element(const char* what) const;

  detail::TensorRep* rep_ = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

namespace detail {

Tensor make_tensor(const void* data, DType dtype, const Shape& shape);
Tensor make_string_tensor(std::span<const std::string> values, const Shape& shape);
[[noreturn]] void throw_ragged_literal(int level);

/// The element type that a literal has when nobody says otherwise: a C string is a string.
template <class T>
struct Literal {
  using type = T;
};
template <>
struct Literal<const char*> {
  using type = std::string;
};
template <class T>
using literal_t = typename Literal<T>::type;

template <class T>
concept LiteralElement = Element<literal_t<T>>;

template <class T>
using Nested1 = std::initializer_list<T>;
template <class T>
using Nested2 = std::initializer_list<Nested1<T>>;
template <class T>
using Nested3 = std::initializer_list<Nested2<T>>;
template <class T>
using Nested4 = std::initializer_list<Nested3<T>>;

}  // namespace detail

/// The value converted to another element type on the host, as TensorFlow converts constants: the number must fit.
Tensor constant_as(const Tensor& value, DType dtype);

/// A tensor of the elements of `values`, `shape` in row-major order. Throws InvalidArgument if their numbers differ.
template <Element T>
Tensor constant(std::span<const T> values, const Shape& shape);
template <Element T>
requires(!std::same_as<T, bool>) Tensor constant(const std::vector<T>& values) {
  return constant(std::span<const T>(values), Shape{static_cast<std::int64_t>(values.size())});
}
template <Element T>
requires(!std::same_as<T, bool>) Tensor constant(const std::vector<T>& values, const Shape& shape) {
  return constant(std::span<const T>(values), shape);
}

/// A scalar of the argument's type: `constant(2.f)`, `constant(1)`, `constant("text")`.
template <detail::LiteralElement T>
Tensor constant(T value) {
  const detail::literal_t<T> element(value);
  return constant(std::span(&element, 1), Shape{});
}
/// The same with an element type: `constant(2, DType::float16)`.
template <detail::LiteralElement T>
Tensor constant(T value, DType dtype) {
  return constant_as(constant(value), dtype);
}

/// Nested braces: `constant({{1, 2}, {3, 4}})`, up to four levels. All rows of a level have the same length.
template <detail::LiteralElement T>
Tensor constant(detail::Nested1<T> values);
template <detail::LiteralElement T>
Tensor constant(detail::Nested2<T> values);
template <detail::LiteralElement T>
Tensor constant(detail::Nested3<T> values);
template <detail::LiteralElement T>
Tensor constant(detail::Nested4<T> values);
template <detail::LiteralElement T>
Tensor constant(detail::Nested1<T> values, DType dtype) {
  return constant_as(constant(values), dtype);
}
template <detail::LiteralElement T>
Tensor constant(detail::Nested2<T> values, DType dtype) {
  return constant_as(constant(values), dtype);
}
template <detail::LiteralElement T>
Tensor constant(detail::Nested3<T> values, DType dtype) {
  return constant_as(constant(values), dtype);
}
/// Elements in row-major order and their shape: `constant({1, 2, 3, 4}, Shape{2, 2})`.
template <detail::LiteralElement T>
Tensor constant(detail::Nested1<T> values, const Shape& shape);

}  // namespace capstan

#include "capstan/tensor/detail/constant.h"  // the templates' bodies
