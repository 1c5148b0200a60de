// Reading small integer tensors (shapes, axes, paddings) on the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capstan/base/error.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// The elements of an integer tensor as 64-bit numbers. Throws TypeError for other types and for
/// uint64, whose numbers may not fit.
inline std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  const auto widened = [&]<class T>() {
    const auto values = tensor.values<T>();
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  switch (tensor.dtype()) {
    case DType::int64:
      return widened.template operator()<std::int64_t>();
    case DType::int32:
      return widened.template operator()<std::int32_t>();
    case DType::int16:
      return widened.template operator()<std::int16_t>();
    case DType::int8:
      return widened.template operator()<std::int8_t>();
    case DType::uint8:
      return widened.template operator()<std::uint8_t>();
    case DType::uint16:
      return widened.template operator()<std::uint16_t>();
    case DType::uint32:
      return widened.template operator()<std::uint32_t>();
    default:
      throw TypeError("an integer tensor is needed here, got " + std::string(dtype_name(tensor.dtype())));
  }
}

}  // namespace capstan
