// Catalogue T, section 7: Jacobians, and their public reports.
#include "autodiff/test_tape.h"

namespace capstan {
namespace {

/// The Jacobian by one backward pass, by one per row, and by `f` alone: all must agree.
template <class Function>
Tensor in_all_modes(Function f, const Tensor& x) {
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  tape.stop();
  const Gradient vectorized = tape.jacobian(y, x), by_loop = tape.jacobian(y, x, {.vectorized = false});
  EXPECT_EQ(vectorized.tensor().shape(), by_loop.tensor().shape());
  expect_near(floats(vectorized), floats(by_loop));
  expect_near(floats(jacobian(f, x, JacobianMode::forward)), floats(by_loop));
  return vectorized;
}

TEST(Jacobian, T139_Square) {
  const Tensor j = in_all_modes([](const Tensor& x) { return x * x; }, constant({1.f, 2.f}));
  EXPECT_EQ(j.shape(), Shape({2, 2}));
  expect_near(floats(j), {2, 0, 0, 4});
}

TEST(Jacobian, T140_TwoSources) {
  Tensor x = constant({1.f, 2.f}), y = constant({3.f, 4.f});
  for (bool vectorized : {true, false}) {
    GradientTape tape({.persistent = true});
    tape.watch({x, y});
    const Tensor z = x * x * y;
    tape.stop();
    const auto both = tape.jacobian(z, std::vector{x, y}, {.vectorized = vectorized});
    expect_near(both[0], {6, 0, 0, 16});
    expect_near(both[1], {1, 0, 0, 4});
  }
}

TEST(Jacobian, T141_LoopOnAOneShotTape) {
  Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  expect_error<FailedPrecondition>([&] { tape.jacobian(y, x, {.vectorized = false}); }, {"persistent"});
  expect_near(tape.jacobian(y, x), {2, 0, 0, 4});  // the refusal has cost nothing
}

TEST(Jacobian, T142_MatrixProduct) {
  const Tensor j = in_all_modes([](const Tensor& x) { return matmul(x, x); }, constant({{1.f, 2.f}, {3.f, 4.f}}));
  EXPECT_EQ(j.shape(), Shape({2, 2, 2, 2}));
}

TEST(Jacobian, T143_LookupIsDense) {
  const Tensor j = in_all_modes(
      [](const Tensor& x) {
        return gather(x, constant({0, 2}));
      },
      constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  EXPECT_EQ(j.shape(), Shape({2, 2, 3, 2}));
  std::vector<float> expected(24, 0.f);
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column)
      expected[static_cast<std::size_t>((row * 2 + column) * 6 + (row * 2) * 2 + column)] = 1;
  expect_near(floats(j), expected);
}

Gradient batch_jacobian_in(bool vectorized, const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  tape.stop();
  return tape.batch_jacobian(y, x, {.vectorized = vectorized});
}

TEST(Jacobian, T145_Batch) {
  Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}), c = constant({{3.f, 4.f}, {5.f, 6.f}});
  for (bool vectorized : {true, false}) {
    const Gradient square = batch_jacobian_in(
        vectorized, [](const Tensor& at) { return at * at; }, x);
    EXPECT_EQ(square.tensor().shape(), Shape({2, 2, 2}));
    expect_near(square, {2, 0, 0, 4, 6, 0, 0, 8});
    expect_near(batch_jacobian_in(
                    vectorized, [&](const Tensor& at) { return at * at * c; }, x),
                {6, 0, 0, 16, 30, 0, 0, 48});
  }
}

TEST(Jacobian, T146_BatchSizesDiffer) {
  Tensor x = ones({2, 3});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = concat({x, x}, 0);
  expect_error<InvalidArgument>([&] { tape.batch_jacobian(y, x); }, {"first dimension", "[4,3]", "[2,3]"});
}

TEST(Jacobian, T147_BatchNeedsRanks) {
  Tensor x = ones({3});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x, z = expand_dims(x, 1);
  expect_error<InvalidArgument>([&] { tape.batch_jacobian(y, x); }, {"rank at least 2"});
  expect_error<InvalidArgument>([&] { tape.batch_jacobian(z, x); }, {"rank at least 2"});
}

TEST(Jacobian, T148_BatchOfEmptyRows) {
  for (bool vectorized : {true, false})
    EXPECT_EQ(batch_jacobian_in(
                  vectorized, [](const Tensor& at) { return at * at; }, ones({1, 0}))
                  .tensor()
                  .shape(),
              Shape({1, 0, 0}));
}

TEST(Jacobian, T149_BatchWhoseRowsInteract) {
  for (bool vectorized : {true, false})
    expect_near(batch_jacobian_in(
                    vectorized,
                    [](const Tensor& at) {
                      return broadcast_to(reduce_sum(at, {.axis = 0, .keepdims = true}), Shape{2, 1});
                    },
                    constant({{1.f}, {2.f}})),
                {2, 2});
}

TEST(Jacobian, T151_NoRows) {
  for (bool vectorized : {true, false}) {
    EXPECT_EQ(batch_jacobian_in(
                  vectorized, [](const Tensor& at) { return at * at; }, ones({0, 4}))
                  .tensor()
                  .shape(),
              Shape({0, 4, 4}));
    Tensor x = ones({0, 4});
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor y = x * x;
    tape.stop();
    EXPECT_EQ(tape.jacobian(y, x, {.vectorized = vectorized}).tensor().shape(), Shape({0, 4, 0, 4}));
  }
}

TEST(Jacobian, T152_WhatCannotBeVectorized) {
  Tensor x = constant({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y;
  {
    auto paused = tape.stop_recording();
    y = x * x;
  }
  record_operation("by value", std::span(&y, 1), std::span(&x, 1), [&](std::span<const Gradient> dy) {
    const auto values = dy[0].tensor().to_vector<float>();  // reads what stands for many values
    return std::vector<Gradient>{constant({values[0] * 2, values[1] * 4})};
  });
  expect_error<InvalidArgument>([&] { tape.jacobian(y, x); }, {"vectorized = false"});
  expect_near(tape.jacobian(y, x, {.vectorized = false}), {2, 0, 0, 4});
}

TEST(Jacobian, PublicReport5_InsideItsOwnPersistentTape) {
  Tensor y = scalar(2), v = scalar(3);
  WarningsSeen warnings;
  GradientTape tape({.persistent = true});
  tape.watch({y, v});
  const Tensor w = y * y * v;
  const Tensor by_gradient = tape.gradient(w, y), by_jacobian = tape.jacobian(w, y);
  expect_near(floats(by_gradient), {12});
  expect_near(floats(by_jacobian), {12});
  expect_value(tape.gradient(by_gradient, v), 4);
  expect_value(tape.jacobian(by_jacobian, v), 4);
}

TEST(Jacobian, PublicReport6_BatchJacobianNeverChangesItsNumbers) {
  std::vector<float> numbers(12);
  for (std::size_t i = 0; i < 12; ++i) numbers[i] = static_cast<float>(i) - 5;
  const Tensor x = reshape(constant(numbers), {4, 3});
  const auto f = [](const Tensor& at) { return at * at; };
  EXPECT_EQ(floats(batch_jacobian_in(true, f, x)), floats(batch_jacobian_in(false, f, x)));
}

TEST(Jacobian, PublicReport7_ZeroBatchOverAVariable) {
  for (bool vectorized : {true, false}) {
    Variable s(1.f);
    Tensor x = ones({0, 4});
    GradientTape tape({.persistent = true});
    const Tensor y = s * x;
    tape.stop();
    EXPECT_EQ(tape.jacobian(y, s, {.vectorized = vectorized}).tensor().shape(), Shape({0, 4}));
  }
}

TEST(Jacobian, Unconnected) {
  Tensor x = constant({1.f, 2.f}), other = constant({{1.f, 2.f}});
  GradientTape tape({.persistent = true});
  tape.watch({x, other});
  const Tensor y = x * x;
  expect_none(tape.jacobian(y, other));
  EXPECT_EQ(tape.jacobian(y, other, {.unconnected_gradients = UnconnectedGradients::zero}).tensor().shape(),
            Shape({2, 1, 2}));
}

TEST(Jacobian, OfAJacobian) {
  const auto cube = [](const Tensor& x) { return x * x * x; };
  const Tensor x = constant({1.f, 2.f});
  const Tensor second = jacobian([&](const Tensor& at) { return jacobian(cube, at); }, x);
  EXPECT_EQ(second.shape(), Shape({2, 2, 2}));
  expect_near(floats(second), {6, 0, 0, 0, 0, 0, 0, 12});
}

TEST(Jacobian, ThroughLoopsOverMembers) {  // an operation whose batching rule is "by a loop"
  const auto f = [](const Tensor& x) { return cumprod(x); };
  const Tensor x = constant({1.f, 2.f, 3.f});
  expect_near(floats(in_all_modes(f, x)), {1, 0, 0, 2, 1, 0, 6, 3, 2});
}

TEST(Jacobian, ComplexModes) {
  const Tensor z = constant(std::vector<std::complex<float>>{{1, 2}});
  const auto f = [](Tensor t) { return t * t; };
  const auto element = [](const Tensor& j) { return j.to_vector<std::complex<float>>()[0]; };
  EXPECT_EQ(element(jacobian(f, z)), std::complex<float>(2, -4));
  EXPECT_EQ(element(jacobian(f, z, JacobianMode::forward)), std::complex<float>(2, 4));
}

// The rule keeps a row of seeds that stands for as many members as there were.
TEST(Jacobian, ARowThatOutlivesItsPass) {
  Tensor kept;
  const auto keeping =
      custom_gradient([&](Tensor t) { return with_gradient(t * 2, [&](Tensor dy) { return kept = dy; }); });
  const auto using_it =
      custom_gradient([&](Tensor t) { return with_gradient(t * 2, [&](Tensor) { return kept * 1; }); });
  const Tensor x = constant({1.f, 2.f});
  jacobian(keeping, x);
  expect_error<InvalidArgument>([&] { jacobian(using_it, x); }, {"member of a batch"});
}

TEST(Jacobian, OfStrings) {
  const auto f = [](const Tensor& x) { return x; };
  for (const JacobianMode mode : {JacobianMode::reverse, JacobianMode::forward})
    expect_error<TypeError>([&] { jacobian(f, constant("a"), mode); }, {"numbers", "string"});
}

}  // namespace
}  // namespace capstan
