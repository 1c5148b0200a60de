// The integers of checkpoint files.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace capstan::checkpoint {

inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// Takes a varint from the front of `bytes`; false if there is none.
inline bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// The same for a number that has to fit in 32 bits.
inline bool take_varint(std::string_view& bytes, std::uint32_t& value) {
  std::uint64_t wide = 0;
  if (!take_varint(bytes, wide) || wide > 0xffffffffu) return false;
  value = static_cast<std::uint32_t>(wide);
  return true;
}

inline void put_fixed32(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), 4); }

inline std::uint32_t fixed32_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace capstan::checkpoint
