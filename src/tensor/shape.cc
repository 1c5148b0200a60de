#include "capstan/tensor/shape.h"

#include <algorithm>
#include <ostream>

#include "capstan/base/error.h"

namespace capstan {
namespace {

std::string dim_text(std::int64_t size) { return size < 0 ? "?" : std::to_string(size); }

void check_dim(std::int64_t size) {
  if (size < Shape::kUnknown)
    throw InvalidArgument("Shape: dimensions must be at least 0 (or -1 for unknown), got " + std::to_string(size));
}

void check_rank(std::size_t rank) {
  if (rank > Shape::kMaxRank)
    throw InvalidArgument("Shape: at most " + std::to_string(Shape::kMaxRank) + " dimensions are possible, got " +
                          std::to_string(rank));
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> dims) : inline_{} {
  check_rank(dims.size());
  for (std::int64_t size : dims) check_dim(size);
  std::int64_t* to = inline_;
  if (dims.size() > kInline) to = heap_ = new std::int64_t[dims.size()];
  rank_ = static_cast<std::int16_t>(dims.size());
  std::copy(dims.begin(), dims.end(), to);
}

Shape Shape::unknown() noexcept {
  Shape shape;
  shape.rank_ = -1;
  return shape;
}

Shape Shape::unknown_dims(int rank) {
  return Shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), kUnknown));
}

void Shape::swap(Shape& other) noexcept {
  for (int i = 0; i < kInline; ++i) std::swap(inline_[i], other.inline_[i]);
  std::swap(rank_, other.rank_);
}

void Shape::copy_heap(const Shape& other) {
  heap_ = new std::int64_t[static_cast<std::size_t>(other.rank_)];
  std::copy_n(other.heap_, other.rank_, heap_);
}

std::int64_t Shape::dim(int axis) const {
  const int at = axis < 0 ? axis + rank_ : axis;
  if (at < 0 || at >= rank_)
    throw OutOfRange("Shape::dim: axis " + std::to_string(axis) + " is outside the shape " + to_string());
  return (*this)[at];
}

void Shape::set_dim(int axis, std::int64_t size) {
  check_dim(size);
  dim(axis);  // checks the axis
  (on_heap() ? heap_ : inline_)[axis < 0 ? axis + rank_ : axis] = size;
}

void Shape::push_back(std::int64_t size) { insert(rank_, size); }

void Shape::insert(int axis, std::int64_t size) {
  check_dim(size);
  if (rank_ < 0 || axis < 0 || axis > rank_)
    throw OutOfRange("Shape::insert: axis " + std::to_string(axis) + " is outside the shape " + to_string());
  if (rank_ < kInline) {
    std::copy_backward(inline_ + axis, inline_ + rank_, inline_ + rank_ + 1);
    inline_[axis] = size;
    ++rank_;
    return;
  }
  std::vector<std::int64_t> grown(dims().begin(), dims().end());
  grown.insert(grown.begin() + axis, size);
  *this = Shape(grown);
}

void Shape::erase(int axis) {
  dim(axis);
  std::vector<std::int64_t> shrunk(dims().begin(), dims().end());
  shrunk.erase(shrunk.begin() + (axis < 0 ? axis + rank_ : axis));
  *this = Shape(shrunk);
}

std::int64_t Shape::count_elements() const {
  if (!is_fully_known()) return kUnknown;
  // A zero dimension makes the product zero, however large the others are.
  for (std::int64_t size : dims())
    if (size == 0) return 0;
  std::int64_t count = 1;
  for (std::int64_t size : dims())
    if (__builtin_mul_overflow(count, size, &count))
      throw InvalidArgument("Shape: the number of elements of " + to_string() + " does not fit into 64 bits");
  return count;
}

bool Shape::is_compatible_with(const Shape& other) const noexcept {
  if (rank_ < 0 || other.rank_ < 0) return true;
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i)
    if ((*this)[i] >= 0 && other[i] >= 0 && (*this)[i] != other[i]) return false;
  return true;
}

std::string Shape::to_string() const {
  if (rank_ < 0) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) text += (i ? "," : "") + dim_text((*this)[i]);
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.to_string(); }

}  // namespace capstan
