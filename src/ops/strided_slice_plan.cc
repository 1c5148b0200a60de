// Reading a strided slice. A position of begin/end/strides speaks of one dimension of the input, of none (a new axis)
// or of all that are left (an ellipsis).
#include <algorithm>

#include "capstan/base/error.h"
#include "ops/strided_slice.h"

namespace capstan {
namespace {

class Reader {
 public:
  Reader(std::string_view op_name, const Shape& input, const std::vector<std::int64_t>* begin,
         const std::vector<std::int64_t>* end, const std::vector<std::int64_t>& strides,
         const StridedSliceAttributes& attributes)
      : op_name_(op_name), input_(input), begin_(begin), end_(end), strides_(strides), attributes_(attributes) {}

  StridedSlicePlan read() {
    if (strides_.size() > 63) fail("at most 63 positions can be given, got " + std::to_string(strides_.size()));
    if (attributes_.ellipsis_mask & (attributes_.ellipsis_mask - 1))
      fail("'ellipsis_mask' may have only one bit set, got " + std::to_string(attributes_.ellipsis_mask));
    bool had_ellipsis = false;
    for (std::size_t i = 0; i < strides_.size(); ++i) {
      if (has(attributes_.ellipsis_mask, i)) {
        // New axes behind the ellipsis take no dimension of the input.
        take_whole(input_.rank() - static_cast<int>(spoken_of(i + 1)));
        had_ellipsis = true;
      } else if (has(attributes_.new_axis_mask, i)) {
        plan_.output.push_back(1);
      } else {
        take_position(i);
      }
    }
    if (!had_ellipsis) take_whole(input_.rank());
    return std::move(plan_);
  }

 private:
  static bool has(std::int64_t mask, std::size_t i) { return mask >> i & 1; }
  int next() const { return static_cast<int>(plan_.dims.size()); }

  /// Dimensions of which the positions from `first` on speak.
  std::size_t spoken_of(std::size_t first) const {
    std::size_t count = 0;
    for (std::size_t i = first; i < strides_.size(); ++i) count += !has(attributes_.new_axis_mask, i);
    return count;
  }

  void take_whole(int until) {
    while (next() < until) {
      plan_.output.push_back(input_[next()]);
      plan_.dims.push_back({0, 1, input_[next()]});
    }
  }

  void take_position(std::size_t i) {
    if (next() >= input_.rank())
      fail("more dimensions are indexed than the input's shape " + input_.to_string() + " has");
    if (strides_[i] == 0) fail("strides[" + std::to_string(i) + "] must not be zero");
    if (has(attributes_.shrink_axis_mask, i))
      take_index(i);
    else
      take_range(i);
  }

  void take_index(std::size_t i) {
    const std::int64_t size = input_[next()];
    if (strides_[i] < 0)
      fail("an index (shrink_axis_mask) must have a stride of at least 1, got " + std::to_string(strides_[i]));
    std::int64_t at = 0;
    if (begin_ && size >= 0) {
      const std::int64_t given = has(attributes_.begin_mask, i) ? 0 : (*begin_)[i];
      at = given < 0 ? given + size : given;
      if (at < 0 || at >= size)
        fail("index " + std::to_string(given) + " of dimension " + std::to_string(next()) + " is outside [" +
             std::to_string(-size) + ", " + std::to_string(size) + ") for shape " + input_.to_string());
    }
    plan_.dims.push_back({at, 1, 1});
  }

  /// A bound counted from the front and moved into what a walk can reach: [0, size] upwards, [-1, size - 1] downwards.
  static std::int64_t clamped(std::int64_t bound, std::int64_t size, std::int64_t stride) {
    const std::int64_t lowest = stride > 0 ? 0 : -1, highest = stride > 0 ? size : size - 1;
    if (bound < 0) bound = bound < -size ? lowest : bound + size;
    return std::clamp(bound, lowest, std::max(lowest, highest));
  }

  void take_range(std::size_t i) {
    const std::int64_t size = input_[next()], stride = strides_[i];
    const bool from_edge = has(attributes_.begin_mask, i), to_edge = has(attributes_.end_mask, i);
    StridedSlicePlan::Dim dim{0, stride, Shape::kUnknown};
    if (size >= 0 && (from_edge || begin_) && (to_edge || end_)) {
      const std::int64_t begin = from_edge ? (stride > 0 ? 0 : size - 1) : clamped((*begin_)[i], size, stride);
      const std::int64_t end = to_edge ? (stride > 0 ? size : -1) : clamped((*end_)[i], size, stride);
      const std::int64_t span = stride > 0 ? end - begin : begin - end;
      const std::uint64_t step = stride > 0 ? static_cast<std::uint64_t>(stride) : -static_cast<std::uint64_t>(stride);
      dim.begin = begin;
      dim.count = span <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(span) - 1) / step) + 1;
    } else if (size < 0 && begin_ && end_ && !from_edge && !to_edge && stride > 0) {
      // How many elements exist is not known, but between bounds of one sign in the wrong order there are none.
      const std::int64_t begin = (*begin_)[i], end = (*end_)[i];
      if ((begin < 0) == (end < 0) && end <= begin) dim.count = 0;
    }
    plan_.output.push_back(dim.count);
    plan_.dims.push_back(dim);
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw InvalidArgument(std::string(op_name_) + ": " + message);
  }

  std::string_view op_name_;
  const Shape& input_;
  const std::vector<std::int64_t>* begin_;
  const std::vector<std::int64_t>* end_;
  const std::vector<std::int64_t>& strides_;
  const StridedSliceAttributes& attributes_;
  StridedSlicePlan plan_;
};

}  // namespace

StridedSlicePlan plan_strided_slice(std::string_view op_name, const Shape& input,
                                    const std::vector<std::int64_t>* begin, const std::vector<std::int64_t>* end,
                                    const std::vector<std::int64_t>& strides,
                                    const StridedSliceAttributes& attributes) {
  return Reader(op_name, input, begin, end, strides, attributes).read();
}

}  // namespace capstan
