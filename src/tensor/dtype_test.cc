#include "capstan/tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "capstan/base/error.h"

namespace capstan {
namespace {

template <class Half>
Half from_bits(int bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

template <class Half>
void check_that_all_patterns_read_back() {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = from_bits<Half>(bits);
    const Half back(value);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    else
      ASSERT_EQ(back.bits, bits);
  }
}

/// Rounding between each finite number and the next larger one, of both signs.
template <class Half>
void check_rounding_to_nearest_even(int infinity) {
  for (int bits = 0; bits < infinity - 1; ++bits)
    for (const float sign : {1.f, -1.f}) {
      const float low = from_bits<Half>(bits), high = from_bits<Half>(bits + 1);
      const auto middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
      const auto rounded = [&](float value) { return Half(sign * value).bits & 0x7fff; };
      ASSERT_EQ(rounded(middle), bits + (bits & 1)) << "the middle goes to the even one";
      ASSERT_EQ(rounded(std::nextafter(middle, 0.f)), bits);
      ASSERT_EQ(rounded(std::nextafter(middle, std::numeric_limits<float>::infinity())), bits + 1);
      ASSERT_EQ(std::signbit(static_cast<float>(Half(sign * middle))), sign < 0);
    }
}

TEST(Float16, AllPatternsReadBack) { check_that_all_patterns_read_back<float16>(); }
TEST(BFloat16, AllPatternsReadBack) { check_that_all_patterns_read_back<bfloat16>(); }
TEST(Float16, RoundsToNearestEven) { check_rounding_to_nearest_even<float16>(0x7c00); }
TEST(BFloat16, RoundsToNearestEven) { check_rounding_to_nearest_even<bfloat16>(0x7f80); }

TEST(Float16, KnownNumbers) {
  EXPECT_EQ(float16(1.f).bits, 0x3c00);
  EXPECT_EQ(float16(-2.f).bits, 0xc000);
  EXPECT_EQ(float16(65504.f).bits, 0x7bff);
  EXPECT_EQ(float16(std::nextafter(65520.f, 0.f)).bits, 0x7bff);
  EXPECT_EQ(float16(65520.f).bits, 0x7c00) << "half way to the next, which does not exist";
  EXPECT_EQ(float16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(float16(std::ldexp(1.f, -24)).bits, 0x0001);
  EXPECT_EQ(float16(std::ldexp(1.f, -25)).bits, 0x0000);
  EXPECT_EQ(float16(std::numeric_limits<float>::denorm_min()).bits, 0x0000);
  EXPECT_EQ(static_cast<float>(from_bits<float16>(0x3555)), 0.333251953125f);
}

TEST(BFloat16, KnownNumbers) {
  EXPECT_EQ(bfloat16(1.f).bits, 0x3f80);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80) << "rounds to infinity";
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::infinity()).bits, 0x7f80);
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0x7f800001u)).bits, 0x7fc0) << "no NaN becomes infinity";
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::denorm_min()).bits, 0x0000);
}

TEST(DType, NumbersThatAreNoType) {
  for (const int number : {24, 33, 200, 255}) {
    EXPECT_EQ(dtype_name(static_cast<DType>(number)), "unknown");
    EXPECT_EQ(dtype_size(static_cast<DType>(number)), 0u);
  }
}

TEST(DType, NamesGoBothWays) {
  int types = 0;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype_name(dtype).empty()) continue;
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
    EXPECT_GT(dtype_size(dtype), 0u);
    ++types;
  }
  EXPECT_EQ(types, 18);
  EXPECT_EQ(dtype_from_name("half"), DType::float16);
  EXPECT_THROW(dtype_from_name("float33"), NotFound);
  EXPECT_THROW(dtype_from_name(""), NotFound);
}

}  // namespace
}  // namespace capstan
