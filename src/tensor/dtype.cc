#include "capstan/tensor/dtype.h"

#include <array>
#include <cmath>
#include <ostream>

#include "capstan/base/error.h"
#include "tensor/handle.h"

namespace capstan {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kNames = {
    "invalid",   "float32", "float64",    "int32",   "uint8",    "int16",   "int8",     "string",
    "complex64", "int64",   "bool",       "",        "",         "",        "bfloat16", "",
    "",          "uint16",  "complex128", "float16", "resource", "variant", "uint32",   "uint64"};

static_assert(dtype_size(DType::resource) == sizeof(ResourceHandle) && dtype_size(DType::variant) == sizeof(Variant));

}  // namespace

std::string_view dtype_name(DType dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  return number < kNames.size() ? kNames[number] : "unknown";
}

DType dtype_from_name(std::string_view name) {
  if (name == "half") return DType::float16;
  if (name == "float") return DType::float32;
  if (name == "double") return DType::float64;
  for (int i = 1; i < kDTypeCount; ++i)
    if (!kNames[static_cast<std::size_t>(i)].empty() && kNames[static_cast<std::size_t>(i)] == name)
      return static_cast<DType>(i);
  throw NotFound("dtype_from_name: there is no element type called '" + std::string(name) + "'");
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype_name(dtype); }

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
