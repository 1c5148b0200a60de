#include "capstan/ops/slicing.h"

#include <gtest/gtest.h>

#include "capstan/base/error.h"
#include "capstan/op/gradient.h"
#include "capstan/ops/array.h"
#include "ops/slices.h"

namespace capstan {
namespace {

/// 0, 1, 2, ... in a shape.
Tensor counted(const Shape& shape) { return reshape(range(static_cast<std::int32_t>(shape.num_elements())), shape); }

TEST(Slicing, TakesRangesIndicesAndNewAxes) {
  const Tensor x = counted({4, 3, 2});
  const Tensor part = slice(x, {Range(1, 3), all, newaxis, -1});
  EXPECT_EQ(part.shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(part.to_vector<std::int32_t>(), (std::vector<std::int32_t>{7, 9, 11, 13, 15, 17}));
}

TEST(Slicing, OpenBoundsAndSteps) {
  const Tensor x = counted({6});
  const auto values = [&](Range range) { return slice(x, {range}).to_vector<std::int32_t>(); };
  EXPECT_EQ(values(Range(4, {})), (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(values(Range({}, 2)), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(values(Range({}, {}, -1)), (std::vector<std::int32_t>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(values(Range(-2, {})), (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(values(Range(1, 100, 2)), (std::vector<std::int32_t>{1, 3, 5}));
  EXPECT_TRUE(values(Range(3, 3)).empty());
}

TEST(Slicing, EllipsisStandsForTheRest) {
  const Tensor x = counted({2, 2, 3});
  EXPECT_EQ(slice(x, {ellipsis, 0}).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 3, 6, 9}));
  EXPECT_EQ(slice(x, {1, ellipsis}).shape(), (Shape{2, 3}));
  EXPECT_EQ(slice(x, {}).shape(), (Shape{2, 2, 3}));
}

TEST(Slicing, RefusesWhatCannotBeTaken) {
  const Tensor x = counted({2, 3});
  const auto message = [&](std::initializer_list<SliceEntry> entries) {
    try {
      slice(x, entries);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_NE(message({2}).find("index 2 of dimension 0 is outside [-2, 2)"), std::string::npos) << message({2});
  EXPECT_NE(message({0, -4}).find("index -4 of dimension 1"), std::string::npos);
  EXPECT_NE(message({Range(0, 1, 0)}).find("strides[0] must not be zero"), std::string::npos);
  EXPECT_NE(message({ellipsis, ellipsis}).find("ellipsis"), std::string::npos);
  EXPECT_NE(message({0, 0, 0}).find("more dimensions are indexed"), std::string::npos);
}

TEST(Slices, T159_DuplicatesAddUp) {
  const IndexedSlices slices{constant({1.f, 1.f, 1.f}), constant({0, 0, 1}), constant({2})};
  EXPECT_EQ(to_tensor(slices).to_vector<float>(), (std::vector<float>{2, 1}));
}

TEST(Slices, T157_MixedIndexTypesBecomeInt64) {
  const IndexedSlices narrow{constant({1.f}), constant({0}), constant({3})};
  const IndexedSlices wide{constant({2.f}), constant({std::int64_t{2}}), constant({3})};
  const IndexedSlices both[] = {narrow, wide};
  const IndexedSlices joined = concat_slices(both);
  EXPECT_EQ(joined.indices.dtype(), DType::int64);
  EXPECT_EQ(to_tensor(joined).to_vector<float>(), (std::vector<float>{1, 0, 2}));
}

TEST(Slices, T155_OneItemComesBackAsItIs) {
  const IndexedSlices only{constant({1.f}), constant({0}), constant({3})};
  EXPECT_TRUE(concat_slices(std::span(&only, 1)).values.is_same(only.values));
}

TEST(Slices, UnknownDenseShapeIsAnError) {
  EXPECT_THROW(to_tensor({constant({1.f}), constant({0}), Tensor()}), InvalidArgument);
  EXPECT_THROW(to_tensor({constant({1.f}), constant({3}), constant({3})}), InvalidArgument);
}

}  // namespace
}  // namespace capstan
