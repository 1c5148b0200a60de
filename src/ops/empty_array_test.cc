// Empty arrays with parts that have more elements than 64 bits can count, and numbers at the end of their range.
#include <gtest/gtest.h>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/reduce.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 40;

template <class Exception, class Function>
void expect_refused(Function&& function, const char* mention) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Exception& error) {
    EXPECT_NE(std::string(error.what()).find(mention), std::string::npos) << error.what();
  }
}

TEST(EmptyArray, PartsMayHaveAnyNumberOfElements) {
  const Tensor x = new_tensor(DType::float32, {0, kMany, kMany, kMany});
  const Tensor none = new_tensor(DType::int32, {0});
  EXPECT_EQ(gather(x, none, {.axis = 3}).shape(), (Shape{0, kMany, kMany, 0}));
  EXPECT_EQ(gather(x, none).shape(), (Shape{0, kMany, kMany, kMany}));
  EXPECT_EQ(reduce_sum(x, {.axis = {1, 2}}).shape(), (Shape{0, kMany}));
  EXPECT_EQ(reduce_sum(x).item<float>(), 0);
  EXPECT_EQ(argmax(x, 2).shape(), (Shape{0, kMany, kMany}));
  EXPECT_EQ(cumsum(x, 0).shape(), x.shape());
  EXPECT_EQ(concat({x, x}, 0).shape(), x.shape());
  EXPECT_EQ(split(x, 2, 3)[1].shape(), (Shape{0, kMany, kMany, kMany / 2}));
  EXPECT_EQ(find_op("UnsortedSegmentSum").call({x, none, constant(0)}, {}).shape(), x.shape());
}

TEST(EmptyArray, ManyElementsAreAnErrorThatNamesTheOp) {
  const Tensor x = new_tensor(DType::float32, {0, kMany, kMany});
  expect_refused<InvalidArgument>([&] { reduce_sum(x, {.axis = 0}); }, "Sum: ");
}

TEST(Segment, TheLastNumberOfItsTypeIsRefused) {
  const std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (const char* op : {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"}) {
    expect_refused<InvalidArgument>(
        [&] {
          find_op(op).call({constant({1.f, 2.f}), constant({std::int64_t{0}, last})}, {});
        },
        "segment_ids[1] = 9223372036854775807");
    expect_refused<Error>([&] { find_op(op).call({constant({1.f}), constant({last - 1})}, {}); }, op);
  }
}

TEST(Windows, NumbersNearTheEndOfTheirRangeAreRefused) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> ones{1, 1, 1, 1}, far{1, std::int64_t{1} << 31, 1, 1};
  for (const char* padding : {"SAME", "VALID"}) {
    expect_refused<InvalidArgument>(
        [&] {
          find_op("Conv2D").call({new_tensor(DType::float32, {0, huge, 1, 1}), zeros({1, 1, 1, 1})},
                                 {{"strides", far}, {"padding", padding}});
        },
        "Conv2D: ");
    expect_refused<InvalidArgument>(
        [&] {
          find_op("Conv2D").call({zeros({1, 1, 1, 1}), new_tensor(DType::float32, {huge, 1, 1, 0})},
                                 {{"strides", ones}, {"padding", padding}, {"dilations", far}});
        },
        "Conv2D: ");
    expect_refused<InvalidArgument>(
        [&] {
          find_op("AvgPool").call({new_tensor(DType::float32, {0, huge, 1, 1})},
                                  {{"ksize", far}, {"strides", far}, {"padding", padding}});
        },
        "AvgPool: ");
  }
}

}  // namespace
}  // namespace capstan
