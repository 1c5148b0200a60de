#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace capstan {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32c, MaskedValues) {
  EXPECT_EQ(mask_crc(0xe3069283u), 0xc78ab0e5u);
  EXPECT_EQ(mask_crc(crc32c("")), 0xa282ead8u);
  for (std::uint32_t crc : {0u, 1u, 0xe3069283u, 0xffffffffu}) EXPECT_EQ(unmask_crc(mask_crc(crc)), crc);
}

TEST(Crc32c, BothWaysAgreeForEveryLengthAroundTheStretches) {
  std::string text(40000, '\0');
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  for (std::size_t length : {0u, 1u, 7u, 8u, 9u, 63u, 4096u, 12287u, 12288u, 12289u, 24576u, 24583u, 39997u}) {
    const auto bytes = bytes_of(std::string_view(text).substr(3, length));
    EXPECT_EQ(crc32c(0, bytes), detail::crc32c_portable(0, bytes)) << length;
    EXPECT_EQ(crc32c(0x12345678, bytes), detail::crc32c_portable(0x12345678, bytes)) << length;
  }
}

TEST(Crc32c, ContinuesOverPieces) {
  const std::string text(30000, 'x');
  const auto whole = bytes_of(text);
  for (std::size_t cut : {0u, 1u, 5000u, 20001u, 30000u})
    EXPECT_EQ(crc32c(crc32c(0, whole.first(cut)), whole.subspan(cut)), crc32c(text)) << cut;
}

}  // namespace
}  // namespace capstan
