// CRC32C (Castagnoli), the checksum of checkpoint, record and event files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace capstan {

/// The checksum of bytes that follow bytes whose checksum is `crc`; start with 0.
std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> bytes);
inline std::uint32_t crc32c(std::string_view bytes) { return crc32c(0, std::as_bytes(std::span(bytes))); }

/// Files hold masked checksums, because the checksum of bytes that contain their own checksum is a poor one.
constexpr std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
constexpr std::uint32_t unmask_crc(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

namespace detail {
// The two ways to compute it, for tests: `crc32c` takes the instruction where the processor has it.
std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes);
}  // namespace detail

}  // namespace capstan
