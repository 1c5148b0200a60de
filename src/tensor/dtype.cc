#include "capstan/tensor/dtype.h"

#include <array>
#include <cmath>
#include <ostream>

#include "capstan/base/error.h"
#include "tensor/handle.h"

namespace capstan {
namespace {

struct Row {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Row, kDTypeCount> kRows = [] {
  std::array<Row, kDTypeCount> rows{};
  const auto row = [&](DType t, std::string_view name, std::size_t size) { rows[static_cast<int>(t)] = {name, size}; };
  row(DType::invalid, "invalid", 0);
  row(DType::float32, "float32", 4);
  row(DType::float64, "float64", 8);
  row(DType::int32, "int32", 4);
  row(DType::uint8, "uint8", 1);
  row(DType::int16, "int16", 2);
  row(DType::int8, "int8", 1);
  row(DType::string, "string", sizeof(std::string));
  row(DType::complex64, "complex64", 8);
  row(DType::int64, "int64", 8);
  row(DType::boolean, "bool", 1);
  row(DType::bfloat16, "bfloat16", 2);
  row(DType::uint16, "uint16", 2);
  row(DType::complex128, "complex128", 16);
  row(DType::float16, "float16", 2);
  row(DType::resource, "resource", sizeof(ResourceHandle));
  row(DType::variant, "variant", sizeof(Variant));
  row(DType::uint32, "uint32", 4);
  row(DType::uint64, "uint64", 8);
  return rows;
}();

const Row& row_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype) % kDTypeCount]; }

}  // namespace

std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }

DType dtype_from_name(std::string_view name) {
  if (name == "half") return DType::float16;
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  for (int i = 1; i < kDTypeCount; ++i)
    if (!kRows[i].name.empty() && kRows[i].name == name) return static_cast<DType>(i);
  throw NotFound("dtype_from_name: there is no element type called '" + std::string(name) + "'");
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype_name(dtype); }

std::size_t dtype_size(DType dtype) { return row_of(dtype).size; }

namespace {

// Rounds to nearest even on the way down to half precision; the scaling constants move the float's exponent so that the
// hardware's own rounding of the addition does the work, subnormals included.
std::uint16_t half_bits(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = word & 0x80000000u;
  std::uint32_t magnitude = word ^ sign;
  std::uint32_t half;
  if (magnitude >= 0x47800000u) {  // overflows, infinite or NaN
    half = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // subnormal or zero
    constexpr std::uint32_t kShift = ((127 - 15) + (23 - 10) + 1) << 23;
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kShift)) - kShift;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    magnitude += (static_cast<std::uint32_t>(15 - 127) << 23) + 0xfffu + odd;
    half = magnitude >> 13;
  }
  return static_cast<std::uint16_t>(half | (sign >> 16));
}

float half_value(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {
    const float tiny = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -tiny : tiny;
  }
  const std::uint32_t wide = exponent == 31 ? 0xffu : exponent + 112u;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

}  // namespace

float16::float16(float value) : bits(half_bits(value)) {}
float16::operator float() const { return half_value(bits); }

}  // namespace capstan
