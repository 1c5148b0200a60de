#include <gtest/gtest.h>

#include <complex>

#include "capstan/base/error.h"
#include "capstan/tensor/tensor.h"

namespace capstan {
namespace {

using Strings = std::vector<std::string>;

TEST(Constant, ScalarsHaveTheTypeOfTheArgument) {
  EXPECT_EQ(constant(2.f).dtype(), DType::float32);
  EXPECT_EQ(constant(2.).dtype(), DType::float64);
  EXPECT_EQ(constant(2).dtype(), DType::int32);
  EXPECT_EQ(constant(2LL).dtype(), DType::int64);
  EXPECT_EQ(constant(std::uint8_t{2}).dtype(), DType::uint8);
  EXPECT_EQ(constant(true).dtype(), DType::boolean);
  EXPECT_EQ(constant(float16(2.f)).dtype(), DType::float16);
  EXPECT_EQ(constant(std::complex<double>(1, 2)).dtype(), DType::complex128);
  EXPECT_EQ(constant("text").item<std::string>(), "text");
  EXPECT_EQ(constant(std::string("text")).item<std::string>(), "text");
  EXPECT_TRUE(constant(2.f).shape().is_scalar());
}

TEST(Constant, NestedBraces) {
  EXPECT_EQ(constant({1, 2, 3}).shape(), (Shape{3}));
  EXPECT_EQ(constant({{1, 2, 3}, {4, 5, 6}}).shape(), (Shape{2, 3}));
  EXPECT_EQ(constant({{{1.f}, {2.f}}, {{3.f}, {4.f}}, {{5.f}, {6.f}}}).shape(), (Shape{3, 2, 1}));
  const Tensor four = constant({{{{1, 2}}, {{3, 4}}}, {{{5, 6}}, {{7, 8}}}});
  EXPECT_EQ(four.shape(), (Shape{2, 2, 1, 2}));
  EXPECT_EQ(four.to_vector<int>(), (std::vector{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Constant, BoolsAndStrings) {
  const Tensor bools = constant({{true, false}, {false, false}});
  EXPECT_EQ(bools.dtype(), DType::boolean);
  EXPECT_TRUE(bools.values<bool>()[0]);
  EXPECT_FALSE(bools.values<bool>()[3]);
  EXPECT_EQ(constant({"a", "bb", "ccc"}).to_vector<std::string>(), (Strings{"a", "bb", "ccc"}));
  EXPECT_EQ(constant({{"a", "b"}, {"c", "d"}}).shape(), (Shape{2, 2}));
  const std::string long_text(1000, 'x');
  EXPECT_EQ(constant({long_text, std::string("a\0b", 3)}).to_vector<std::string>(),
            (Strings{long_text, std::string("a\0b", 3)}));
}

TEST(Constant, ElementsWithAShape) {
  const Tensor tensor = constant({1, 2, 3, 4, 5, 6}, Shape{3, 2});
  EXPECT_EQ(tensor.shape(), (Shape{3, 2}));
  EXPECT_EQ(tensor.values<int>()[4], 5);
  EXPECT_EQ(constant(std::vector<double>{1, 2}).shape(), (Shape{2}));
  EXPECT_EQ(constant(std::vector<double>{1, 2}, Shape{1, 2, 1}).shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(constant(std::vector<float>{}).shape(), (Shape{0}));
}

template <class Kind>
void expect_error(const std::function<void()>& work, const std::string& message) {
  try {
    work();
    FAIL() << "no error, expected: " << message;
  } catch (const Kind& error) {
    EXPECT_EQ(error.message(), message);
  }
}

TEST(Constant, RowsOfALevelHaveOneLength) {
  expect_error<InvalidArgument>(
      [] {
        constant({{1, 2}, {3}});
      },
      "constant: all rows at level 1 must have the same length");
  expect_error<InvalidArgument>(
      [] {
        constant({{{1}, {2}}, {{3}}});
      },
      "constant: all rows at level 1 must have the same length");
  expect_error<InvalidArgument>(
      [] {
        constant({{{1}, {2}}, {{3}, {4, 5}}});
      },
      "constant: all rows at level 2 must have the same length");
}

TEST(Constant, ShapeAndElementsMustAgree) {
  expect_error<InvalidArgument>(
      [] {
        constant({1, 2, 3}, Shape{2, 2});
      },
      "constant: shape [2,2] needs 4 elements, got 3");
  EXPECT_THROW(constant({1, 2, 3}, Shape{-1}), InvalidArgument);
}

TEST(Constant, ConvertsToATypeThatHoldsTheNumber) {
  EXPECT_EQ(static_cast<float>(constant(2, DType::float16).item<float16>()), 2.f);
  EXPECT_EQ(constant({1, 2}, DType::float64).to_vector<double>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(constant({{255, 0}}, DType::uint8).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{255, 0}));
  EXPECT_EQ(constant({{{-128}}}, DType::int8).item<std::int8_t>(), -128);
  EXPECT_EQ(constant(1.5f, DType::complex64).item<std::complex<float>>(), std::complex<float>(1.5f));
  EXPECT_EQ(constant(0.1, DType::float32).item<float>(), 0.1f);
}

TEST(Constant, RefusesConversionsThatLoseSomething) {
  const std::string cannot = "constant: cannot convert a value of type ";
  expect_error<TypeError>([] { constant(256, DType::uint8); }, cannot + "int32 to uint8: the value does not fit");
  expect_error<TypeError>([] { constant(-1, DType::uint64); }, cannot + "int32 to uint64: the value does not fit");
  expect_error<TypeError>([] { constant(1.5f, DType::int32); }, cannot + "float32 to int32: use cast to round");
  expect_error<TypeError>([] { constant(true, DType::int32); }, cannot + "bool to int32: bool and numbers do not mix");
  expect_error<TypeError>([] { constant("1", DType::int32); }, cannot + "string to int32: only numbers convert");
  expect_error<TypeError>([] { constant(std::complex<float>(1, 2), DType::float32); },
                          cannot + "complex64 to float32: the imaginary part would be lost");
}

}  // namespace
}  // namespace capstan
