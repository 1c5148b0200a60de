// Records and attributes of slicing, and the reading of a strided slice's many masks.
#pragma once

#include <optional>
#include <vector>

#include "capstan/op/op.h"

namespace capstan {

struct StridedSliceAttributes {
  std::int64_t begin_mask = 0;        // bit i: begin[i] is left out, the slice starts at the end it walks from
  std::int64_t end_mask = 0;          // bit i: end[i] is left out
  std::int64_t ellipsis_mask = 0;     // bit i: position i stands for all dimensions not spoken of
  std::int64_t new_axis_mask = 0;     // bit i: position i makes a new dimension of size 1
  std::int64_t shrink_axis_mask = 0;  // bit i: position i is an index, its dimension goes
  template <class Field>
  static void fields(Field&& field) {
    field("begin_mask", &StridedSliceAttributes::begin_mask);
    field("end_mask", &StridedSliceAttributes::end_mask);
    field("ellipsis_mask", &StridedSliceAttributes::ellipsis_mask);
    field("new_axis_mask", &StridedSliceAttributes::new_axis_mask);
    field("shrink_axis_mask", &StridedSliceAttributes::shrink_axis_mask);
  }
};

/// A strided slice, spelled out: per dimension of the input where it begins, its step, and how many elements it takes
/// (-1 where that is not known), and how the result's shape follows.
struct StridedSlicePlan {
  struct Dim {
    std::int64_t begin = 0;
    std::int64_t stride = 1;
    std::int64_t count = 0;
  };
  std::vector<Dim> dims;
  std::vector<std::int64_t> output;  // the result's shape
};

/// Reads `begin`, `end` and `strides` for an input of that shape, whose rank is known. Null `begin` or `end`: their
/// values are not known. Throws InvalidArgument with `op_name` in front.
StridedSlicePlan plan_strided_slice(std::string_view op_name, const Shape& input,
                                    const std::vector<std::int64_t>* begin, const std::vector<std::int64_t>* end,
                                    const std::vector<std::int64_t>& strides, const StridedSliceAttributes& attributes);

extern const OpDef slice_op, strided_slice_op, strided_slice_grad_op;

}  // namespace capstan
