#include <gtest/gtest.h>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"

namespace capstan {
namespace {

std::vector<Tensor> split_v(const Tensor& sizes) {
  return find_op("SplitV").call_all(std::vector{constant({1, 2, 3, 4, 5}), sizes, constant(0)},
                                    {{"num_split", std::int64_t{2}}});
}

// TensorFlow's own process ends with int8, so that no sample row can hold it.
TEST(SplitV, SizesOfEveryTypeThatItTakes) {
  for (DType dtype : {DType::int8, DType::int32, DType::int64}) {
    const auto parts = split_v(constant({2, 3}, dtype));
    EXPECT_EQ(parts[0].to_vector<int>(), (std::vector{1, 2})) << dtype;
    EXPECT_EQ(parts[1].to_vector<int>(), (std::vector{3, 4, 5})) << dtype;
    EXPECT_EQ(split_v(constant({4, -1}, dtype))[1].to_vector<int>(), (std::vector{5})) << dtype;
    EXPECT_THROW(split_v(constant({4, 2}, dtype)), InvalidArgument) << dtype;
  }
}

TEST(InferContext, IntegersOfEveryTypeAndNoOthers) {
  const Op op = define_op({.signature = "TestIntegers(n: T) -> (y: int32); T: any",
                           .summary = "The shape that the input says.",
                           .shape = [](InferContext& context) { context.set_output(0, Shape(context.integers(0))); },
                           .cpu = KernelSet{}});
  for (DType dtype :
       {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32})
    EXPECT_THROW(op(constant({2, 3}, dtype)), Unimplemented) << dtype;  // the shape is read; there is no kernel
  for (DType dtype : {DType::uint64, DType::float32}) EXPECT_THROW(op(constant({2, 3}, dtype)), TypeError) << dtype;
}

}  // namespace
}  // namespace capstan
