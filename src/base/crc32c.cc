#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace capstan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken from memory as they stand");

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected: bit 31 is the coefficient of x^0

using ByteTable = std::array<std::uint32_t, 256>;

/// Row k maps a byte to its checksum's change when k zero bytes follow it.
constexpr std::array<ByteTable, 8> kSlices = [] {
  std::array<ByteTable, 8> slices{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
    slices[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = slices[k - 1][byte];
      slices[k][byte] = (before >> 8) ^ slices[0][before & 0xff];
    }
  return slices;
}();

std::uint64_t load_word(const std::byte* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

#if defined(__x86_64__)

// The instruction takes three cycles but a new one can start in each: three stretches of the data run side by side. The
// checksums are then moved to where they belong: appending zero bytes is a linear map of the checksum, tabulated by
// byte.
constexpr std::size_t kStretch = 4096;

/// The product of two polynomials modulo the checksum's.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b >> 1) ^ (b & 1 ? kPolynomial : 0);
  }
  return product;
}

constexpr std::array<ByteTable, 4> kAppendStretch = [] {
  std::uint32_t power = 1u << 23;  // x^8: one zero byte
  for (std::size_t n = 1; n < kStretch; n *= 2) power = multiply(power, power);
  std::array<ByteTable, 4> tables{};
  for (std::uint32_t place = 0; place < 4; ++place)
    for (std::uint32_t byte = 0; byte < 256; ++byte) tables[place][byte] = multiply(byte << (8 * place), power);
  return tables;
}();

std::uint32_t append_stretch(std::uint64_t crc) {
  return kAppendStretch[0][crc & 0xff] ^ kAppendStretch[1][(crc >> 8) & 0xff] ^ kAppendStretch[2][(crc >> 16) & 0xff] ^
         kAppendStretch[3][(crc >> 24) & 0xff];
}

[[gnu::target("sse4.2")]] std::uint32_t crc32c_instruction(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint64_t state = ~crc;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 3 * kStretch; left -= 3 * kStretch, at += 3 * kStretch) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kStretch; i += 8) {
      state = _mm_crc32_u64(state, load_word(at + i));
      second = _mm_crc32_u64(second, load_word(at + kStretch + i));
      third = _mm_crc32_u64(third, load_word(at + 2 * kStretch + i));
    }
    state = append_stretch(append_stretch(state) ^ second) ^ third;
  }
  for (; left >= 8; left -= 8, at += 8) state = _mm_crc32_u64(state, load_word(at));
  auto narrow = static_cast<std::uint32_t>(state);
  for (; left; --left, ++at) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(*at));
  return ~narrow;
}

#endif

}  // namespace

namespace detail {

std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint32_t state = ~crc;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint64_t word = load_word(at) ^ state;
    state = 0;
    for (std::size_t i = 0; i < 8; ++i) state ^= kSlices[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left; --left, ++at) state = (state >> 8) ^ kSlices[0][(state ^ static_cast<std::uint32_t>(*at)) & 0xff];
  return ~state;
}

}  // namespace detail

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return crc32c_instruction(crc, bytes);
#endif
  return detail::crc32c_portable(crc, bytes);
}

}  // namespace capstan
