// How many elements a part of a shape has.
#pragma once

#include <cstdint>
#include <limits>

#include "capstan/tensor/shape.h"

namespace capstan {

/// a * b for counts, at most INT64_MAX. Only of an empty array can a part have more elements than that (the whole has
/// none, so nobody addresses them); the number must still be defined, and never 0 by accident.
inline std::int64_t multiply_counts(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

/// The product of the known sizes of dimensions [from, to).
inline std::int64_t count_of(const Shape& shape, int from, int to) {
  std::int64_t count = 1;
  for (int i = from; i < to; ++i) count = multiply_counts(count, shape[i]);
  return count;
}

}  // namespace capstan
