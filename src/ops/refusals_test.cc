// Numbers that no caller should give, each answered by a typed error.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/test_errors.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/nn.h"
#include "capstan/ops/random_ops.h"
#include "ops/strided_slice.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

TEST(Refusals, ElementTypesThatDoNotExist) {
  const Tensor x = constant({1.f, 2.f});
  for (const int number : {11, 24, 33, 200, 255}) {
    const auto dtype = static_cast<DType>(number);
    expect_contains(message_of<TypeError>([&] { cast(x, dtype); }), "Cast: attribute 'DstT' must be a type of any");
    expect_contains(message_of<TypeError>([&] { zeros({2}, dtype); }), "got number " + std::to_string(number));
    expect_contains(message_of<TypeError>([&] { new_tensor(dtype, {2}); }), "got number " + std::to_string(number));
    expect_contains(message_of<TypeError>([&] { constant_as(x, dtype); }), "got number " + std::to_string(number));
    expect_contains(message_of<TypeError>([&] { shape_of(x, dtype); }), "Shape: attribute 'out_type'");
    float data = 0;
    EXPECT_THROW(Tensor::from_memory(&data, dtype, {1}, nullptr), TypeError);
    EXPECT_THROW(random_uniform({2}, {.dtype = dtype}), TypeError);
  }
}

TEST(Refusals, ShapesOfUnknownRank) {
  const Shape unknown = Shape::unknown();
  const char* text = "must have a known number of dimensions";
  expect_contains(message_of<InvalidArgument>([&] { zeros(unknown); }), text);
  expect_contains(message_of<InvalidArgument>([&] { ones(unknown); }), text);
  expect_contains(message_of<InvalidArgument>([&] { fill(unknown, constant(1)); }), text);
  expect_contains(message_of<InvalidArgument>([&] { random_uniform(unknown); }), text);
  expect_contains(message_of<InvalidArgument>([&] { stateless_normal(unknown, {1, 2}); }), text);
  expect_contains(message_of<InvalidArgument>([&] { reshape(constant(1), unknown); }), text);
  expect_contains(message_of<InvalidArgument>([&] { broadcast_to(constant(1), unknown); }), text);
}

TEST(Refusals, MasksWithTheSignBit) {
  const std::vector<std::int64_t> zero{0}, two{2}, one{1};
  StridedSliceAttributes attributes;
  attributes.ellipsis_mask = std::numeric_limits<std::int64_t>::min();  // speaks of position 63, which is not there
  const auto plan = plan_strided_slice("StridedSlice", Shape{3}, &zero, &two, one, attributes);
  EXPECT_EQ(plan.output, (std::vector<std::int64_t>{2}));
  attributes.ellipsis_mask |= 1;
  expect_contains(
      message_of<InvalidArgument>([&] { plan_strided_slice("StridedSlice", Shape{3}, &zero, &two, one, attributes); }),
      "may have only one bit set");
}

TEST(Refusals, NumbersAreNamedInFull) {
  const Tensor x = zeros({2, 3});
  expect_contains(message_of<InvalidArgument>([&] { transpose(x, {std::int64_t{1} << 32, 1}); }), "got 4294967296");
  expect_contains(message_of<InvalidArgument>([&] {
                    find_op("MaxPool").call({zeros({1, 4, 4, 1})},
                                            {{"ksize", std::vector<std::int64_t>{1, std::int64_t{1} << 40, 2, 1}},
                                             {"strides", std::vector<std::int64_t>{1, 1, 1, 1}},
                                             {"padding", std::string("VALID")}});
                  }),
                  "4 positive numbers of at most 2147483648, got [1,1099511627776,2,1]");
}

}  // namespace
}  // namespace capstan
