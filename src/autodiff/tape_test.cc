#include <gtest/gtest.h>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

float as_float(const Tensor& tensor) { return tensor.item<float>(); }

TEST(Tape, T001_SquareOfWatched) {
  Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  EXPECT_EQ(as_float(tape.gradient(y, x)), 6);
}

TEST(Tape, T002_NothingWatched) {
  Tensor x = constant(3.f);
  GradientTape tape;
  Tensor y = x * x;
  EXPECT_FALSE(tape.gradient(y, x).has_value());
}

TEST(Tape, T003_TargetIsSource) {
  Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  EXPECT_EQ(as_float(tape.gradient(y, x)), 1);
}

TEST(Tape, T013_IntermediateAsSource) {
  Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  Tensor z = y * y;
  auto [dx, dy] = tape.gradient(z, x, y);
  EXPECT_EQ(as_float(dx), 108);
  EXPECT_EQ(as_float(dy), 18);
}

TEST(Tape, T121_ThreeNestedTapes) {
  Tensor x = constant(3.f);
  GradientTape a;
  a.watch(x);
  GradientTape b;
  b.watch(x);
  GradientTape c;
  c.watch(x);
  Tensor y = x * x * x;
  Tensor d1 = c.gradient(y, x);
  Tensor d2 = b.gradient(d1, x);
  Tensor d3 = a.gradient(d2, x);
  EXPECT_EQ(as_float(d1), 27);
  EXPECT_EQ(as_float(d2), 18);
  EXPECT_EQ(as_float(d3), 6);
}

TEST(Tape, T112_SavedOutputsInSecondOrder) {
  Tensor x = constant(0.5f);
  GradientTape outer({.persistent = true});
  outer.watch(x);
  Tensor t = tanh(x);
  Tensor d1 = outer.gradient(t, x);
  Tensor d2 = outer.gradient(d1, x);
  const float value = std::tanh(0.5f);
  EXPECT_NEAR(as_float(d2), -2 * value * (1 - value * value), 1e-6);
}

TEST(Tape, T107_DroppedOutputsFreeTheirEntries) {
  Tensor x = constant(0.5f);
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.entry_count(), 1u);  // the leaf
  {
    Tensor y = exp(x);
    for (int i = 0; i < 100; ++i) y = tanh(y) * y;
    EXPECT_GT(tape.entry_count(), 200u);
  }
  EXPECT_EQ(tape.entry_count(), 1u);
}

TEST(Tape, MissingGradientSaysWhereThePathBroke) {
  Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = stop_gradient(x * x);
  Gradient none = tape.gradient(y, x);
  EXPECT_FALSE(none.has_value());
  try {
    Tensor used = none;
    FAIL();
  } catch (const MissingGradient& error) {
    EXPECT_NE(std::string(error.what()).find("StopGradient"), std::string::npos) << error.what();
  }
}

TEST(Tape, ProgramOne) {
  Tensor x = constant({3.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = reduce_sum(x * x);
  Tensor gradient = tape.gradient(y, x);
  EXPECT_EQ(gradient.to_vector<float>(), (std::vector<float>{6, 8}));
}

}  // namespace
}  // namespace capstan
