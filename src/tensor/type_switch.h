// From an element type known at run time to a C++ type.
#pragma once

#include <complex>
#include <string>

#include "capstan/base/error.h"
#include "capstan/tensor/dtype.h"

namespace capstan {

/// Calls `visitor.template operator()<T>()` with the C++ type of a numeric or boolean element type.
template <class Visitor>
decltype(auto) visit_number(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::float32:
      return visitor.template operator()<float>();
    case DType::float64:
      return visitor.template operator()<double>();
    case DType::float16:
      return visitor.template operator()<float16>();
    case DType::bfloat16:
      return visitor.template operator()<bfloat16>();
    case DType::int8:
      return visitor.template operator()<std::int8_t>();
    case DType::int16:
      return visitor.template operator()<std::int16_t>();
    case DType::int32:
      return visitor.template operator()<std::int32_t>();
    case DType::int64:
      return visitor.template operator()<std::int64_t>();
    case DType::uint8:
      return visitor.template operator()<std::uint8_t>();
    case DType::uint16:
      return visitor.template operator()<std::uint16_t>();
    case DType::uint32:
      return visitor.template operator()<std::uint32_t>();
    case DType::uint64:
      return visitor.template operator()<std::uint64_t>();
    case DType::boolean:
      return visitor.template operator()<bool>();
    case DType::complex64:
      return visitor.template operator()<std::complex<float>>();
    case DType::complex128:
      return visitor.template operator()<std::complex<double>>();
    default:
      throw TypeError("a number type is needed here, got " + std::string(dtype_name(dtype)));
  }
}

}  // namespace capstan
