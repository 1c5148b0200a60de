// Shapes, known and partly known. `Shape{2, 3}` is a matrix, `Shape{}` a scalar, `Shape{-1, 3}` a matrix whose number
// of rows is not known, `Shape::unknown()` a tensor of unknown rank. Tensors that hold values always have a known
// shape.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace capstan {

class Shape {
 public:
  static constexpr std::int64_t kUnknown = -1;  // a dimension that is not known
  static constexpr int kMaxRank = 254;

  constexpr Shape() noexcept : inline_{} {}
  /// Throws InvalidArgument for a dimension below -1 or a rank above `kMaxRank`.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);
  explicit Shape(const std::vector<std::int64_t>& dims) : Shape(std::span(dims)) {}
  static Shape unknown() noexcept;
  /// `rank` dimensions, none of them known.
  static Shape unknown_dims(int rank);

  Shape(const Shape& other) : rank_(other.rank_) {
    if (other.on_heap())
      copy_heap(other);
    else
      copy_inline(other);
  }
  Shape(Shape&& other) noexcept : rank_(other.rank_) {
    copy_inline(other);
    if (on_heap()) other.rank_ = 0;
  }
  Shape& operator=(const Shape& other) {
    if (!on_heap() && !other.on_heap()) {
      rank_ = other.rank_;
      copy_inline(other);
    } else if (this != &other) {
      Shape copy(other);
      swap(copy);
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (!on_heap() && !other.on_heap()) {
      rank_ = other.rank_;
      copy_inline(other);
    } else {
      swap(other);
    }
    return *this;
  }
  ~Shape() {
    if (on_heap()) delete[] heap_;
  }
  void swap(Shape& other) noexcept;

  bool has_rank() const noexcept { return rank_ >= 0; }
  /// Number of dimensions; -1 if not known.
  int rank() const noexcept { return rank_; }
  bool is_fully_known() const noexcept {
    if (rank_ < 0) return false;
    for (std::int64_t size : dims())
      if (size < 0) return false;
    return true;
  }
  bool is_scalar() const noexcept { return rank_ == 0; }
  /// The dimensions; empty for an unknown rank.
  std::span<const std::int64_t> dims() const noexcept {
    return {on_heap() ? heap_ : inline_, static_cast<std::size_t>(rank_ < 0 ? 0 : rank_)};
  }
  /// Dimension `axis` (negative counts from the end); throws OutOfRange.
  std::int64_t dim(int axis) const;
  std::int64_t operator[](int axis) const noexcept { return (on_heap() ? heap_ : inline_)[axis]; }
  void set_dim(int axis, std::int64_t size);
  void push_back(std::int64_t size);
  void insert(int axis, std::int64_t size);
  void erase(int axis);

  /// Product of the dimensions, -1 if not known. Known shapes that overflow int64 throw InvalidArgument.
  std::int64_t num_elements() const {
    if (rank_ == 1) return inline_[0];
    return count_elements();
  }

  bool operator==(const Shape& other) const noexcept {
    if (rank_ != other.rank_) return false;
    const auto a = dims(), b = other.dims();
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  /// Could both describe the same tensor?
  bool is_compatible_with(const Shape& other) const noexcept;
  /// "[2,3]", "[?,3]", "[]" for a scalar, "<unknown>".
  std::string to_string() const;

 private:
  static constexpr int kInline = 6;
  bool on_heap() const noexcept { return rank_ > kInline; }
  void copy_inline(const Shape& other) noexcept {
    for (int i = 0; i < kInline; ++i) inline_[i] = other.inline_[i];
  }
  void copy_heap(const Shape& other);
  std::int64_t count_elements() const;

  union {
    std::int64_t inline_[kInline];
    std::int64_t* heap_;
  };
  std::int16_t rank_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace capstan
