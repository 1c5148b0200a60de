#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "capstan/base/error.h"
#include "tensor/number_text.h"
#include "tensor/storage.h"
#include "tensor/string_literal.h"
#include "tensor/type_switch.h"

namespace capstan {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

Shape shape_from(const std::string& dims) {
  Shape shape;
  if (dims == "-") return shape;
  std::istringstream in(dims);
  for (std::string dim; std::getline(in, dim, ',');) shape.push_back(std::stoll(dim));
  return shape;
}

Tensor tensor_from(const std::string& dtype, const std::string& dims, const std::string& data) {
  Tensor tensor = new_tensor(dtype_from_name(dtype), shape_from(dims));
  if (dtype == "string") {
    std::istringstream in(data);
    auto* to = mutable_values<std::string>(tensor);
    for (std::string element; std::getline(in, element, ',');) *to++ = from_hex(element.substr(1));
  } else if (data == "iota") {
    visit_number(tensor.dtype(), [&]<class T>() {
      auto* to = mutable_values<T>(tensor);
      for (std::int64_t i = 0; i < tensor.size(); ++i) to[i] = static_cast<T>(static_cast<float>(i));
    });
  } else {
    const std::string bytes = from_hex(data.substr(1));
    std::memcpy(mutable_data(tensor), bytes.data(), bytes.size());
  }
  return tensor;
}

TEST(Print, AsNumPyPrintsArrays) {
  std::ifstream file(CAPSTAN_GOLDEN_DIR "/print.txt");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  int cases = 0;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::string word, dtype, dims, data;
    int lines = 0;
    in >> word >> dtype >> dims >> data >> lines;
    ASSERT_EQ(word, "case");
    std::string expected;
    for (int i = 0; i < lines && std::getline(file, line); ++i) expected += (i ? "\n" : "") + line;
    EXPECT_EQ(tensor_from(dtype, dims, data).to_string(), expected) << dtype << " " << dims << " " << data;
    ++cases;
  }
  EXPECT_GT(cases, 250);
}

TEST(Print, BFloat16HasItsOwnShortestDigits) {
  EXPECT_EQ(constant({0.1f, 1.f, -2.5f}, DType::bfloat16).to_string(), "[ 0.1  1.  -2.5]");
  EXPECT_EQ(constant(3.14159f, DType::bfloat16).to_string(), "3.14");
  EXPECT_EQ(constant({1e-38f, 3e38f}, DType::bfloat16).to_string(), "[1.e-38 3.e+38]");
}

template <class Half>
void check_all_patterns() {
  for (int i = 0; i < 0x10000; ++i) {
    Half half;
    half.bits = static_cast<std::uint16_t>(i);
    const float value = half;
    if (!std::isfinite(value)) continue;
    const std::string text = scientific_text(half, 20);
    ASSERT_EQ(Half(std::strtof(text.c_str(), nullptr)).bits, half.bits) << text;
    ASSERT_LE(shortest_decimal(half).digits.size(), 5u) << text;
  }
}

TEST(Print, HalfPrecisionTextsReadBack) {
  check_all_patterns<float16>();
  check_all_patterns<bfloat16>();
}

TEST(Print, EmptyTensorsTellTheirShape) {
  EXPECT_EQ(new_tensor(DType::float32, {0}).to_string(), "[]");
  EXPECT_EQ(new_tensor(DType::float32, {0, 3}).to_string(), "[], shape=(0, 3)");
  EXPECT_EQ(new_tensor(DType::string, {2, 0, 1}).to_string(), "[], shape=(2, 0, 1)");
}

struct Named : Resource {
  std::string name() const override { return "weights"; }
};
struct List : VariantValue {
  std::string type_name() const override { return "list"; }
};

TEST(Print, HandlesAndVariants) {
  EXPECT_EQ(make_resource_tensor(ResourceHandle(new Named)).to_string(), "<resource weights>");
  Tensor variants = new_tensor(DType::variant, {2});
  static_cast<Variant*>(mutable_data(variants))[1] = std::make_shared<List>();
  EXPECT_EQ(variants.to_string(), "[<variant> <variant list>]");
}

TEST(Print, StreamsAndUndefinedTensors) {
  std::ostringstream out;
  out << constant({{1, 2}, {3, 4}});
  EXPECT_EQ(out.str(), "[[1 2]\n [3 4]]");
  EXPECT_THROW(Tensor().to_string(), FailedPrecondition);
}

TEST(Print, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(string_literal("\xff\xc3("), "'\\xff\\xc3('");
  EXPECT_EQ(string_literal("\xed\xa0\x80"), "'\\xed\\xa0\\x80'") << "half of a surrogate pair";
  EXPECT_EQ(string_literal("\xc0\xaf"), "'\\xc0\\xaf'") << "an overlong form";
  EXPECT_EQ(count_characters("a\xc3\xa9\xff"), 3u);
}

TEST(Print, Utf8ReadsWhatItWrote) {
  for (char32_t code : {U'a', char32_t{0x7f}, char32_t{0x80}, char32_t{0x7ff}, char32_t{0x800}, char32_t{0xffff},
                        char32_t{0x10000}, char32_t{0x10ffff}}) {
    std::string text;
    append_utf8(text, code);
    const Utf8Character read = first_character(text);
    EXPECT_TRUE(read.is_valid);
    EXPECT_EQ(read.code, code);
    EXPECT_EQ(read.bytes, text.size());
  }
}

}  // namespace
}  // namespace capstan
