#include "capstan/ops/gather.h"

#include <gtest/gtest.h>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "ops/gather.h"

namespace capstan {
namespace {

TEST(GatherNd, GradientByIndicesOf16Bits) {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  const Tensor indices = constant<std::int16_t>({{1, 0}, {0, 1}, {1, 0}});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = gather_nd(x, indices) * constant({1.f, 2.f, 4.f});
  EXPECT_EQ(tape.gradient(y, x).tensor().to_vector<float>(), (std::vector<float>{0, 2, 5, 0}));
}

TEST(GatherNd, GradientOfAnEmptyTensorThatBadIndicesPass) {
  const Tensor x = zeros({0, 3});
  const BadIndices ignore{"IGNORE"};
  GradientTape tape;
  tape.watch(x);
  const Tensor y = apply(gather_nd_op, {x, constant({{0}, {4}})}, &ignore);
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(6));
  EXPECT_EQ(tape.gradient(y, x).tensor().shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace capstan
