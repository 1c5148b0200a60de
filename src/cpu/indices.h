// Indices that come as values: read and checked before a kernel writes anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capstan/op/kernel.h"

namespace capstan::cpu {

/// "[1,0]": the coordinates of element `at` of an array of that shape.
std::string position_text(const Shape& shape, std::int64_t at);

/// Throws InvalidArgument: the index, where it stands, and the valid range [0, limit).
[[noreturn]] void fail_index(const KernelContext& context, std::string_view argument, const Shape& shape,
                             std::int64_t at, std::int64_t index, std::int64_t limit);

/// Calls `visitor` with the C++ type of an index tensor.
template <class Visitor>
decltype(auto) visit_index(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::int16:
      return visitor.template operator()<std::int16_t>();
    case DType::uint16:
      return visitor.template operator()<std::uint16_t>();
    case DType::int32:
      return visitor.template operator()<std::int32_t>();
    default:
      return visitor.template operator()<std::int64_t>();
  }
}

/// The innermost vectors of `indices` [..., depth] as offsets into an array of that shape, in parts of the trailing
/// dimensions. A vector outside the array throws, or becomes -1 if `ignore`.
std::vector<std::int64_t> part_offsets(const KernelContext& context, const Tensor& indices, const Shape& shape,
                                       bool ignore);

}  // namespace capstan::cpu
