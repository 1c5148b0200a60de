// Slices with the brackets of NumPy: `slice(x, {Range(1, 3), all, newaxis, -1})` is Python's `x[1:3, :, newaxis, -1]`.
//
//   slice(x, {0})                          x[0]
//   slice(x, {Range(1, 3)})                x[1:3]
//   slice(x, {Range(1, {})})               x[1:]
//   slice(x, {Range({}, {}, -1)})          x[::-1]
//   slice(x, {ellipsis, Range({}, 2)})     x[..., :2]
//   slice(x, {newaxis, all, 3})            x[newaxis, :, 3]
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "capstan/tensor/tensor.h"

namespace capstan {

/// The elements from `begin` on, in steps of `step`, before `end`; negative bounds count from the end, bounds outside
/// are moved inside, and `{}` is the end that the walk comes from or goes to.
struct Range {
  std::optional<std::int64_t> begin;
  std::optional<std::int64_t> end;
  std::int64_t step = 1;

  Range() = default;
  Range(std::optional<std::int64_t> begin_at, std::optional<std::int64_t> end_before, std::int64_t step_by = 1)
      : begin(begin_at), end(end_before), step(step_by) {}
};

/// All elements of a dimension; a new dimension of size 1; all dimensions that the other entries do not speak of.
struct AllOfIt {};
struct NewAxis {};
struct Ellipsis {};
inline constexpr AllOfIt all{};
inline constexpr NewAxis newaxis{};
inline constexpr Ellipsis ellipsis{};

/// One entry between the brackets. A number takes one element (negative: from the end) and its dimension goes.
class SliceEntry {
 public:
  enum class Kind { index, range, new_axis, ellipsis };

  template <std::integral Number>
  requires(!std::same_as<Number, bool>) SliceEntry(Number index)
      : kind_(Kind::index), range_(static_cast<std::int64_t>(index), {}) {}
  SliceEntry(Range range) : kind_(Kind::range), range_(range) {}
  SliceEntry(AllOfIt) : kind_(Kind::range) {}
  SliceEntry(NewAxis) : kind_(Kind::new_axis) {}
  SliceEntry(Ellipsis) : kind_(Kind::ellipsis) {}

  Kind kind() const noexcept { return kind_; }
  const Range& range() const noexcept { return range_; }

 private:
  Kind kind_;
  Range range_;
};

/// The part of x that the entries name; dimensions behind the last entry are taken whole. Throws InvalidArgument for an
/// index outside, a step of 0, a second ellipsis, or more entries than dimensions.
Tensor slice(Tensor x, std::span<const SliceEntry> entries);
Tensor slice(Tensor x, std::initializer_list<SliceEntry> entries);

/// The slice with every option of TensorFlow's op; bit i of a mask speaks of position i.
struct StridedSliceOptions {
  std::int64_t begin_mask = 0;        // begin[i] is left out
  std::int64_t end_mask = 0;          // end[i] is left out
  std::int64_t ellipsis_mask = 0;     // position i stands for all dimensions not spoken of
  std::int64_t new_axis_mask = 0;     // position i makes a new dimension
  std::int64_t shrink_axis_mask = 0;  // position i is an index
};
Tensor strided_slice(Tensor x, Tensor begin, Tensor end, Tensor strides, const StridedSliceOptions& options = {});

}  // namespace capstan
