// Slices with NumPy's brackets, as TensorFlow's strided slice with its masks.
#include "capstan/ops/slicing.h"

#include <limits>
#include <vector>

#include "capstan/base/error.h"
#include "ops/strided_slice.h"

namespace capstan {
namespace {

struct Positions {
  std::vector<std::int64_t> begin, end, strides;
  StridedSliceAttributes masks;

  void add(const SliceEntry& entry) {
    const std::int64_t bit = std::int64_t{1} << begin.size();
    const Range& range = entry.range();
    begin.push_back(range.begin.value_or(0));
    end.push_back(range.end.value_or(0));
    strides.push_back(range.step);
    switch (entry.kind()) {
      case SliceEntry::Kind::index:
        end.back() = begin.back() + (begin.back() < std::numeric_limits<std::int64_t>::max());
        masks.shrink_axis_mask |= bit;
        break;
      case SliceEntry::Kind::range:
        if (!range.begin) masks.begin_mask |= bit;
        if (!range.end) masks.end_mask |= bit;
        break;
      case SliceEntry::Kind::new_axis:
        masks.new_axis_mask |= bit;
        break;
      case SliceEntry::Kind::ellipsis:
        masks.ellipsis_mask |= bit;
        break;
    }
  }
};

}  // namespace

Tensor slice(Tensor x, std::span<const SliceEntry> entries) {
  if (entries.size() > 62)
    throw InvalidArgument("slice: at most 62 entries are possible, got " + std::to_string(entries.size()));
  Positions positions;
  for (const SliceEntry& entry : entries) positions.add(entry);
  return apply(strided_slice_op,
               {std::move(x), constant(positions.begin), constant(positions.end), constant(positions.strides)},
               &positions.masks);
}
Tensor slice(Tensor x, std::initializer_list<SliceEntry> entries) {
  return slice(std::move(x), std::span(entries.begin(), entries.size()));
}

Tensor strided_slice(Tensor x, Tensor begin, Tensor end, Tensor strides, const StridedSliceOptions& options) {
  const StridedSliceAttributes attributes{options.begin_mask, options.end_mask, options.ellipsis_mask,
                                          options.new_axis_mask, options.shrink_axis_mask};
  return apply(strided_slice_op, {std::move(x), begin, end, strides}, &attributes);
}

}  // namespace capstan
