// Element types, with TensorFlow's numbers (they are written to files as they stand here).
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace capstan {

enum class DType : std::uint8_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  boolean = 10,
  bfloat16 = 14,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  resource = 20,
  variant = 21,
  uint32 = 22,
  uint64 = 23,
};

inline constexpr int kDTypeCount = 24;  // one past the largest number above

/// TensorFlow's name: "float32", "bool", "string", ...; "unknown" for numbers that are no type.
std::string_view dtype_name(DType dtype);
/// The type of that name ("half", "float" and "double" are understood too); throws NotFound.
DType dtype_from_name(std::string_view name);
std::ostream& operator<<(std::ostream& out, DType dtype);

namespace detail {
// One for each number that a DType can hold: those that are no type have no size.
inline constexpr std::uint8_t kElementSizes[256] = {
    0, 4, 8, 4, 1, 2, 1, sizeof(std::string), 8, 8, 1, 0, 0, 0, 2, 0, 0, 2, 16, 2, sizeof(void*), 2 * sizeof(void*),
    4, 8};
}  // namespace detail
/// Bytes of one element in memory; 0 for numbers that are no type. Strings, resources and variants are C++ objects of
/// this size.
constexpr std::size_t dtype_size(DType dtype) { return detail::kElementSizes[static_cast<std::size_t>(dtype)]; }

constexpr bool is_floating(DType t) {
  return t == DType::float32 || t == DType::float64 || t == DType::float16 || t == DType::bfloat16;
}
constexpr bool is_complex(DType t) { return t == DType::complex64 || t == DType::complex128; }
constexpr bool is_signed_integer(DType t) {
  return t == DType::int8 || t == DType::int16 || t == DType::int32 || t == DType::int64;
}
constexpr bool is_unsigned_integer(DType t) {
  return t == DType::uint8 || t == DType::uint16 || t == DType::uint32 || t == DType::uint64;
}
constexpr bool is_integer(DType t) { return is_signed_integer(t) || is_unsigned_integer(t); }
/// Types a gradient can flow through: floating, complex, and the handles that stand for such values.
constexpr bool is_trainable(DType t) {
  return is_floating(t) || is_complex(t) || t == DType::resource || t == DType::variant;
}
/// Plain bytes that may be copied with memcpy and written to files.
constexpr bool is_plain(DType t) { return t != DType::string && t != DType::resource && t != DType::variant; }

/// IEEE half precision, stored in 16 bits. Arithmetic converts to float and rounds the result to nearest even.
struct float16 {
  std::uint16_t bits = 0;
  constexpr float16() = default;
  float16(float value);
  operator float() const;
};

/// The upper half of a float32. Arithmetic converts to float and rounds the result to nearest even.
struct bfloat16 {
  std::uint16_t bits = 0;
  constexpr bfloat16() = default;
  bfloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    bits = is_nan ? 0x7fc0 : static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

namespace detail {

template <class T>
inline constexpr DType dtype_of_v = DType::invalid;
template <>
inline constexpr DType dtype_of_v<float> = DType::float32;
template <>
inline constexpr DType dtype_of_v<double> = DType::float64;
template <>
inline constexpr DType dtype_of_v<float16> = DType::float16;
template <>
inline constexpr DType dtype_of_v<bfloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of_v<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of_v<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_of_v<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of_v<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_of_v<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of_v<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_of_v<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_of_v<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_of_v<long long> = DType::int64;
template <>
inline constexpr DType dtype_of_v<unsigned long long> = DType::uint64;
template <>
inline constexpr DType dtype_of_v<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of_v<std::complex<float>> = DType::complex64;
template <>
inline constexpr DType dtype_of_v<std::complex<double>> = DType::complex128;
template <>
inline constexpr DType dtype_of_v<std::string> = DType::string;

}  // namespace detail

/// A C++ type that is an element type: the numbers, bool, std::complex, std::string. (Compared as numbers: `!=` between
/// enumerators would ask the operators of tensors whether they apply, and those ask this concept.)
template <class T>
concept Element = static_cast<int>(detail::dtype_of_v<T>) != 0;

/// The element type of a C++ type: `dtype_of<float>() == DType::float32`.
template <Element T>
constexpr DType dtype_of() {
  return detail::dtype_of_v<T>;
}

}  // namespace capstan
