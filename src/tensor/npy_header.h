// The header of a .npy file: "\x93NUMPY", a version, a length, and a Python dictionary that tells type, order and
// shape.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "capstan/tensor/shape.h"

namespace capstan {

struct NpyHeader {
  char byte_order = '<';  // '<', '>', or '|' where it does not matter
  char kind = 'f';        // NumPy's letter: b i u f c S U V
  std::size_t item_size = 0;
  bool is_fortran_order = false;
  Shape shape;
  std::size_t bytes = 0;  // of the header: where the elements begin
};

/// Throws InvalidArgument if the bytes are no .npy header, DataLoss if they end too early, Unimplemented for types that
/// have no such description.
NpyHeader parse_npy_header(std::span<const std::byte> bytes);

/// The whole header, from the magic bytes to the line end; `type` as in "<f4".
std::string npy_header(std::string_view type, const Shape& shape);

}  // namespace capstan
