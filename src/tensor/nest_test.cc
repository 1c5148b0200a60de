// Catalogue T, section 22, as far as C++'s types leave a question open.
#include "capstan/tensor/nest.h"

#include <gtest/gtest.h>

#include "capstan/base/error.h"

namespace capstan {
namespace {

std::vector<int> ints(const std::vector<Tensor>& flat) {
  std::vector<int> all;
  for (const Tensor& tensor : flat) all.push_back(tensor.item<int>());
  return all;
}

std::vector<Tensor> tensors(std::initializer_list<int> values) {
  std::vector<Tensor> all;
  for (int value : values) all.push_back(constant(value));
  return all;
}

TEST(Nest, T479_NestedTuples) {
  const auto nested = std::tuple(std::tuple(3, 4), 5, std::tuple(6, 7, std::tuple(9, 10), 8));
  EXPECT_EQ(ints(nest::flatten(nested)), (std::vector{3, 4, 5, 6, 7, 9, 10, 8}));
  const auto packed = nest::rebuild(nested, tensors({1, 2, 3, 4, 5, 6, 7, 8}));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(packed)>,
                               std::tuple<std::tuple<Tensor, Tensor>, Tensor,
                                          std::tuple<Tensor, Tensor, std::tuple<Tensor, Tensor>, Tensor>>>);
  EXPECT_EQ(std::get<1>(std::get<2>(std::get<2>(packed))).item<int>(), 7);
  EXPECT_EQ(ints(nest::flatten(packed)), (std::vector{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Nest, T481_MapsGoByKey) {
  const std::map<std::string, Tensor> map{
      {"d", constant(3)}, {"b", constant(1)}, {"a", constant(0)}, {"c", constant(2)}};
  EXPECT_EQ(ints(nest::flatten(map)), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(nest::rebuild(map, tensors({5, 6, 7, 8})).at("d").item<int>(), 8);
}

struct Point {
  Tensor x, y;
};
struct State {
  Point point;
  std::vector<Tensor> list;
  std::array<Tensor, 2> pair;
  std::map<std::string, Point> named;
  std::tuple<> nothing;
};

TEST(Nest, T483_MixedKinds) {
  const State state{{constant(1), constant(2)},
                    {constant(3)},
                    {constant(4), constant(5)},
                    {{"b", {constant(8), constant(9)}}, {"a", {constant(6), constant(7)}}},
                    {}};
  EXPECT_EQ(ints(nest::flatten(state)), (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const State packed = nest::rebuild(state, tensors({9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(packed.point.y.item<int>(), 8);
  EXPECT_EQ(packed.list.at(0).item<int>(), 7);
  EXPECT_EQ(packed.pair[1].item<int>(), 5);
  EXPECT_EQ(packed.named.at("b").y.item<int>(), 1);
}

TEST(Nest, T484_CountsMustAgree) {
  EXPECT_EQ(nest::rebuild(constant(1), tensors({7})).item<int>(), 7);
  try {
    nest::rebuild(std::vector{constant(1), constant(2)}, tensors({1, 2, 3}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "nest::rebuild: the structure has 2 tensors, got 3");
  }
  EXPECT_THROW(nest::rebuild(std::tuple(), tensors({1})), InvalidArgument);
}

TEST(Nest, T489_Map) {
  const auto mapped = nest::map(std::tuple(constant(1), std::vector{constant(2), constant(3)}),
                                [](const Tensor& x) { return constant(x.item<int>() + 1); });
  EXPECT_EQ(ints(nest::flatten(mapped)), (std::vector{2, 3, 4}));
  EXPECT_TRUE(nest::map(std::vector<Point>(), [](const Tensor& x) { return x; }).empty());
  // What the function returns is what stands there.
  const auto ranks = nest::map(std::vector{constant(std::vector{1, 2})}, [](const Tensor& x) { return x.rank(); });
  EXPECT_EQ(ranks, std::vector{1});
}

TEST(Nest, NumbersAndListsOfThemAreConstants) {
  const auto flat = nest::flatten(std::tuple(2.f, std::vector{1.0, 2.0}, std::array{1, 2, 3}, std::string("text")));
  ASSERT_EQ(flat.size(), 4u);
  EXPECT_EQ(flat[0].dtype(), DType::float32);
  EXPECT_EQ(flat[1].shape(), Shape{2});
  EXPECT_EQ(flat[2].to_vector<int>(), (std::vector{1, 2, 3}));
  EXPECT_EQ(flat[3].item<std::string>(), "text");
  EXPECT_EQ(nest::count(std::tuple(1, std::vector{std::vector{1.f}, std::vector{2.f}})), 3u);
}

TEST(Nest, EmptyStructures) {
  struct Empty {};
  EXPECT_TRUE(nest::flatten(std::tuple(std::tuple(), Empty(), std::vector<Tensor>(), std::array<Tensor, 0>())).empty());
  const auto empty = nest::rebuild(std::tuple(std::tuple(), Empty()), {});
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(empty)>, std::tuple<std::tuple<>, Empty>>);
}

struct Sixteen {
  Tensor a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
struct Seventeen {
  Tensor a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
struct Constructed {
  explicit Constructed(Tensor) {}
};

TEST(Nest, WhatIsAStructure) {
  static_assert(nest::Structure<Tensor> && nest::Structure<float> && nest::Structure<const State&>);
  static_assert(nest::Structure<std::tuple<std::pair<Tensor, int>, std::vector<State>>>);
  static_assert(nest::Structure<Sixteen> && !nest::Structure<Seventeen>);
  static_assert(!nest::Structure<Constructed> && !nest::Structure<int*> && !nest::Structure<std::tuple<int*>>);
  Sixteen all{};
  all.p = constant(16);
  EXPECT_EQ(nest::count(all), 16u);
  EXPECT_EQ(nest::flatten(all)[15].item<int>(), 16);
}

}  // namespace
}  // namespace capstan
