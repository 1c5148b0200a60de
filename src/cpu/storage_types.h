// Kernels that only move elements need to know their size, not their meaning.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "capstan/tensor/dtype.h"
#include "tensor/handle.h"

namespace capstan::cpu {

/// Calls `visitor` with a C++ type that has the size and the copying of the element type: numbers count as bytes.
template <class Visitor>
void visit_storage(DType dtype, Visitor&& visitor) {
  if (dtype == DType::string) return visitor.template operator()<std::string>();
  if (dtype == DType::resource) return visitor.template operator()<ResourceHandle>();
  if (dtype == DType::variant) return visitor.template operator()<Variant>();
  switch (dtype_size(dtype)) {
    case 1:
      return visitor.template operator()<std::uint8_t>();
    case 2:
      return visitor.template operator()<std::uint16_t>();
    case 4:
      return visitor.template operator()<std::uint32_t>();
    case 8:
      return visitor.template operator()<std::uint64_t>();
    default:
      return visitor.template operator()<std::complex<double>>();
  }
}

}  // namespace capstan::cpu
