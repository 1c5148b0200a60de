#include "capstan/tensor/shape.h"

#include <gtest/gtest.h>

#include "capstan/base/error.h"

namespace capstan {
namespace {

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.num_elements(), 1);
  EXPECT_EQ((Shape{2, 3}).num_elements(), 6);
  EXPECT_EQ((Shape{2, -1}).num_elements(), -1);
  EXPECT_EQ(Shape::unknown().num_elements(), -1);
}

TEST(Shape, ZeroElementsWinOverOverflow) {
  EXPECT_EQ((Shape{1LL << 62, 0, 1LL << 62}).num_elements(), 0);
  EXPECT_THROW((Shape{1LL << 62, 4}).num_elements(), InvalidArgument);
}

TEST(Shape, KeepsMoreDimensionsThanFitInside) {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  Shape copy = shape;
  copy.push_back(9);
  EXPECT_EQ(shape.to_string(), "[1,2,3,4,5,6,7,8]");
  EXPECT_EQ(copy.to_string(), "[1,2,3,4,5,6,7,8,9]");
  copy.erase(0);
  copy.erase(-1);
  copy.erase(-1);
  EXPECT_EQ(copy, (Shape{2, 3, 4, 5, 6, 7}));
}

TEST(Shape, RefusesBadDimensions) {
  EXPECT_THROW((Shape{-2}), InvalidArgument);
  EXPECT_THROW(Shape(std::vector<std::int64_t>(255, 1)), InvalidArgument);
  EXPECT_THROW((Shape{1}).dim(1), OutOfRange);
}

TEST(Shape, PartlyKnownShapesAreCompatible) {
  EXPECT_TRUE((Shape{-1, 3}).is_compatible_with(Shape{2, 3}));
  EXPECT_TRUE(Shape::unknown().is_compatible_with(Shape{2, 3}));
  EXPECT_FALSE((Shape{-1, 3}).is_compatible_with(Shape{2, 4}));
  EXPECT_FALSE((Shape{3}).is_compatible_with(Shape{3, 1}));
}

}  // namespace
}  // namespace capstan
