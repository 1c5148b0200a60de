// Catalogue T, section 11: forward mode, and its public reports.
#include <cmath>
#include <thread>

#include "autodiff/test_tape.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

TEST(Forward, T212_RulesOfSumAndProduct) {
  Tensor a = scalar(4), b = scalar(5);
  ForwardAccumulator sum({a, b}, {scalar(1), scalar(5)});
  expect_value(sum.jvp(a + b), 6);
  ForwardAccumulator product({a, b}, {scalar(2), scalar(3)});
  expect_value(product.jvp(a * b), 22);
}

TEST(Forward, T213_Sine) {
  Tensor x = scalar(.1f);
  ForwardAccumulator forward(x, scalar(.2f));
  Tensor y = sin(x);
  expect_near(floats(y), {.0998334f});
  expect_value(forward.jvp(y), .1990008f);
}

TEST(Forward, T214_TheSameTensorTwice) {
  Tensor x = scalar(1);
  ForwardAccumulator forward(x, scalar(2));
  expect_value(forward.jvp(x + x), 4);
}

TEST(Forward, T215_WatchingAgainAddsUp) {
  Tensor x = scalar(1);
  ForwardAccumulator forward(x, scalar(3));
  expect_value(forward.jvp(x), 3);
  forward.watch(x, scalar(10));
  expect_value(forward.jvp(x), 13);
  forward.watch(x, scalar(11));
  expect_value(forward.jvp(x), 24);
  expect_value(forward.jvp(3 * x), 72);
}

TEST(Forward, T217_ResumingWhileRecording) {
  ForwardAccumulator forward;
  expect_error<InvalidArgument>([&] { forward.resume(); }, {"already recording"});
}

TEST(Forward, T218_StopAndResume) {
  Tensor x = scalar(-2);
  ForwardAccumulator forward(x, scalar(1.5f));
  Tensor y = 4 * x;
  expect_value(forward.jvp(y), 6);
  forward.stop();
  expect_none(forward.jvp(4 * x));
  forward.resume();
  expect_value(forward.jvp(y * y), -96);
}

TEST(Forward, T219_AskingComputesNothing) {
  Tensor x = scalar(2);
  ForwardAccumulator forward(x, scalar(1));
  Tensor y = x * x;
  forward.stop();
  const auto before = live_tensor_count();
  for (int i = 0; i < 3; ++i) expect_value(forward.jvp(y), 4);
  EXPECT_EQ(live_tensor_count(), before);
}

TEST(Forward, T220_Unconnected) {
  Tensor x = constant({1.f, 2.f}), other = ones({2, 3});
  ForwardAccumulator forward(x, constant({.1f, .1f}));
  expect_none(forward.jvp(other));
  expect_near(forward.jvp(other, UnconnectedGradients::zero), {0, 0, 0, 0, 0, 0});
  expect_near(forward.jvp(x), {.1f, .1f});
  expect_near(forward.jvp(x, UnconnectedGradients::zero), {.1f, .1f});
  expect_error<MissingGradient>([&] { Tensor t = forward.jvp(other); }, {"does not depend"});
}

TEST(Forward, T221_OneInputWithoutTangent) {
  Tensor x = scalar(3), y = scalar(5);
  ForwardAccumulator forward(x, scalar(2));
  expect_value(forward.jvp(x * y), 10);
  expect_value(forward.jvp(x - y), 2);
  expect_value(forward.jvp(y - x), -2);
  expect_value(forward.jvp(unstack(concat({reshape(y, {1}), reshape(x, {1})}, 0))[1]), 2);
}

TEST(Forward, T223_Variable) {
  Variable v(constant({1.f, 2.f, 3.f}));
  ForwardAccumulator forward(v, constant({.1f, -.2f, .3f}));
  expect_near(forward.jvp(v), {.1f, -.2f, .3f});
  expect_near(forward.jvp(v.value()), {.1f, -.2f, .3f});
  expect_near(forward.jvp(2 * v), {.2f, -.4f, .6f});
  expect_near(forward.jvp(v + .1f), {.1f, -.2f, .3f});
}

TEST(Forward, T225_OperationsWithoutTrainableOutputs) {
  Variable v(1.f);
  ForwardAccumulator forward(v, scalar(1));
  v.assign_sub(.5f);
  EXPECT_EQ(v.value().item<float>(), .5f);
}

TEST(Forward, T227_IntegerPrimalWarns) {
  WarningsSeen warnings;
  Tensor x = constant(1);
  ForwardAccumulator forward(x, scalar(2));
  ASSERT_EQ(warnings.all.size(), 1u);
  EXPECT_NE(warnings.all[0].find("no derivatives"), std::string::npos);
  EXPECT_EQ(forward.jvp(x).tensor().dtype(), DType::int32);
}

TEST(Forward, T229_NestedOverTheSamePrimal) {
  Tensor x = scalar(1.1f);
  ForwardAccumulator outer(x, scalar(1));
  ForwardAccumulator inner(x, scalar(1));
  Tensor y = pow(x, 3.5f);
  expect_value(outer.jvp(inner.jvp(y)), 10.094785f);
  expect_none(inner.jvp(outer.jvp(y)));
}

TEST(Forward, T230_TangentsOfTangents) {
  Tensor x = scalar(1), inner_tangent = scalar(3);
  ForwardAccumulator outer({x, inner_tangent}, {scalar(2), scalar(4)});
  ForwardAccumulator inner(x, inner_tangent);
  Tensor y = 2 * x;
  expect_value(inner.jvp(y), 6);
  expect_value(outer.jvp(y), 4);
  expect_value(outer.jvp(inner.jvp(y)), 8);
  expect_value(outer.jvp(inner.jvp(x)), 4);
}

TEST(Forward, T232_ATapeInsideIgnoresTangents) {
  Tensor c = scalar(1);
  ForwardAccumulator forward(c, scalar(.1f));
  GradientTape tape;
  tape.watch(c);
  Tensor d = cos(c);
  const Tensor tangent = forward.jvp(d);
  forward.stop();
  EXPECT_FALSE(should_record(std::span(&tangent, 1)));
  expect_none(tape.gradient(tangent, c));
}

TEST(Forward, T233_ATapeOutsideSeesTangents) {
  Tensor c = scalar(1);
  GradientTape tape;
  tape.watch(c);
  ForwardAccumulator forward(c, scalar(.1f));
  Tensor d = cos(c);
  const Tensor tangent = forward.jvp(d);
  EXPECT_TRUE(should_record(std::span(&tangent, 1)));
  expect_value(tape.gradient(tangent, c), -.0540302f);
}

Tensor product_of_squares(const Tensor& x) { return reduce_prod(square(tanh(x))); }

TEST(Forward, T235_HessianVectorProduct) {
  Tensor x = constant({1.f, 2.f, 3.f}), v = constant({3.f, 4.f, 5.f});
  const std::vector<float> expected{-1.312544f, -.313805f, -.0635672f};
  expect_near(floats(hessian_vector_product(product_of_squares, x, v)), expected, 1e-4);
  GradientTape outer;
  outer.watch(x);
  Tensor gradient;
  {
    GradientTape inner;
    inner.watch(x);
    gradient = inner.gradient(product_of_squares(x), x);
  }
  expect_near(outer.gradient(gradient, x, {.output_gradients = {v}}), expected, 1e-4);
}

TEST(Forward, T236_HessianOfAQuadraticForm) {
  Tensor x = constant({1.f, 2.f, 3.f}), a = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}, {7.f, 8.f, 10.f}});
  const auto form = [&](const Tensor& at) { return reduce_sum(at * squeeze(matmul(a, expand_dims(at, 1)), {1})); };
  const std::vector<float> expected{2, 6, 10, 6, 10, 14, 10, 14, 20};
  const Tensor h = hessian(form, x);
  EXPECT_EQ(h.shape(), Shape({3, 3}));
  expect_near(floats(h), expected);
  std::vector<float> by_loop;
  for (int i = 0; i < 3; ++i)
    for (float each : floats(hessian_vector_product(form, x, one_hot(constant(i), 3)))) by_loop.push_back(each);
  expect_near(by_loop, expected);
}

std::vector<Gradient> sine_backward(const Tensor& x, std::span<const Gradient> dy) { return {dy[0].tensor() * cos(x)}; }

TEST(Forward, T237_TransposesABackwardFunction) {
  Tensor x = constant({1.f, 2.f});
  ForwardAccumulator forward(x, constant({1.f, .5f}));
  Tensor y;
  {
    StopRecording silent;
    y = sin(x);
  }
  record_operation("my sine", std::span(&y, 1), std::span(&x, 1),
                   [x](std::span<const Gradient> dy) { return sine_backward(x, dy); });
  expect_near(forward.jvp(y), {std::cos(1.f), .5f * std::cos(2.f)});
}

TEST(Forward, T238_ErrorsOfABackwardFunctionSurface) {
  Tensor x = scalar(1), y = scalar(2);
  ForwardAccumulator forward(x, scalar(1));
  expect_error<std::runtime_error>(
      [&] {
        record_operation("f", std::span(&y, 1), std::span(&x, 1),
                         [](auto) -> std::vector<Gradient> { throw std::runtime_error("test_error_string"); });
      },
      {"test_error_string"});
  expect_value(forward.jvp(2 * x), 2);  // and the accumulator goes on
}

TEST(Forward, T239_WrongNumberOfGradients) {
  Tensor x = scalar(1), y = scalar(2);
  ForwardAccumulator forward(x, scalar(1));
  expect_error<Internal>(
      [&] {
        record_operation("f", std::span(&y, 1), std::span(&x, 1), [](auto dy) {
          return std::vector<Gradient>{dy[0], dy[0]};
        });
      },
      {"wrong number"});
}

TEST(Forward, T241_RecordsForOneModeOnly) {
  Tensor c = scalar(1.5f);
  GradientTape tape({.persistent = true});
  tape.watch(c);
  ForwardAccumulator forward(c, scalar(2));
  Tensor d, e, f;
  {
    StopRecording silent;
    d = 2 * c;
    e = 3 * c;
    f = 4 * c;
  }
  record_operation({.name = "twice",
                    .outputs = std::span(&d, 1),
                    .inputs = std::span(&c, 1),
                    .forward = [](std::span<const Tensor> t) { return std::vector{2 * t[0]}; }});
  record_operation({.name = "thrice",
                    .outputs = std::span(&e, 1),
                    .inputs = std::span(&c, 1),
                    .backward = [](std::span<const Gradient> dy) { return std::vector<Gradient>{3 * dy[0].tensor()}; },
                    .is_seen_forward = false});
  expect_value(forward.jvp(d), 4);
  expect_none(tape.gradient(d, c));
  expect_none(forward.jvp(e));
  expect_value(tape.gradient(e, c), 3);
  expect_none(forward.jvp(f));
  expect_none(tape.gradient(f, c));
}

TEST(Forward, T242_AGivenTangent) {
  Tensor c = scalar(1.5f), d = scalar(3), tangent = scalar(3);
  ForwardAccumulator forward(c, scalar(2));
  record_operation({.name = "given",
                    .outputs = std::span(&d, 1),
                    .inputs = std::span(&c, 1),
                    .forward = [&](std::span<const Tensor>) { return std::vector{tangent}; }});
  expect_value(forward.jvp(d), 3);
  Tensor e = scalar(1);
  expect_error<Internal>(
      [&] {
        record_operation({.name = "none",
                          .outputs = std::span(&e, 1),
                          .inputs = std::span(&c, 1),
                          .forward = [](std::span<const Tensor>) { return std::vector<Tensor>(); }});
      },
      {"none", "0", "1"});
}

TEST(Forward, T243_TheFirstTangentStays) {
  Tensor c = scalar(1);
  ForwardAccumulator forward(c, scalar(2));
  Tensor d = 3 * c;
  record_operation("again", std::span(&d, 1), std::span(&c, 1),
                   [](std::span<const Gradient> dy) { return std::vector<Gradient>{100 * dy[0].tensor()}; });
  expect_value(forward.jvp(d), 6);
}

TEST(Forward, T247_JacobiansOfActivationsAgree) {
  Tensor x = constant({-.5f, .5f});
  const auto check = [&](auto f) {
    const Tensor reverse = jacobian(f, x), forward = jacobian(f, x, JacobianMode::forward);
    expect_near(floats(forward), floats(reverse));
    const auto first = [&](const Tensor& at) { return jacobian(f, at); };
    expect_near(floats(jacobian(first, x, JacobianMode::forward)), floats(jacobian(first, x)), 1e-4);
  };
  check([](const Tensor& at) { return elu(at); });
  check([](const Tensor& at) { return at * sigmoid(at); });
  const Tensor kernel = constant({{1.f, 2.f, 3.f}, {-1.f, .5f, 2.f}});
  check([&](const Tensor& at) { return tanh(matmul(expand_dims(at, 0), kernel)); });
  const Tensor filter = constant({{{{.5f, -1.f}}, {{2.f, .25f}}}});  // [1, 2, 1, 2]
  check([&](const Tensor& at) { return tanh(conv2d(reshape(at, {1, 1, 2, 1}), filter, {.padding = "SAME"})); });
}

// TensorFlow gives no tangent here; a zero one is what reverse mode gives, too.
TEST(Forward, T248_Sign) {
  Tensor x = constant({1.f});
  ForwardAccumulator forward(x, constant({1.f}));
  Tensor y = sign(x);
  expect_near(forward.jvp(y), {0});
  expect_near(forward.jvp(y, UnconnectedGradients::zero), {0});
}

TEST(Forward, T610_TangentOfAnotherShapeOrType) {
  Tensor x = constant({1.f, 2.f});
  expect_error<InvalidArgument>([&] { ForwardAccumulator forward(x, scalar(1)); }, {"[2]", "[]"});
  expect_error<TypeError>([&] { ForwardAccumulator forward(x, constant({1., 2.})); }, {"float32", "float64"});
  expect_error<InvalidArgument>([&] { ForwardAccumulator forward({x, x}, {x}); }, {"2 primals", "1 tangents"});
  expect_error<TypeError>([&] { ForwardAccumulator forward(Tensor(), x); });
  expect_error<TypeError>([&] { ForwardAccumulator forward(x, Tensor()); });
}

TEST(Forward, PublicReport9_NestedOverAVariable) {
  Variable v(1.1);
  ForwardAccumulator outer(v, constant(1.));
  ForwardAccumulator inner(v, constant(1.));
  Tensor y = pow(v, 3.5);
  EXPECT_NEAR(outer.jvp(inner.jvp(y)).tensor().item<double>(), 10.094785163637711, 1e-12);
}

TEST(Forward, PublicReport10_SignHasAZeroTangent) {
  Tensor x = constant({1.f});
  ForwardAccumulator forward(x, constant({1.f}));
  expect_near(forward.jvp(sign(x)), {0});
}

TEST(Forward, ManyDirectionsInOnePass) {
  Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  const Tensor tangents = constant({{{1.f, 0.f}, {0.f, 0.f}}, {{0.f, 0.f}, {0.f, 1.f}}, {{1.f, 1.f}, {1.f, 1.f}}});
  ForwardAccumulator forward(x, tangents, {.directions = 3});
  const Tensor y = reduce_sum(matmul(x, x), {.axis = 1});
  for (std::size_t i = 0; i < 3; ++i) {
    ForwardAccumulator alone(x, unstack(tangents)[i]);
    const Tensor again = reduce_sum(matmul(x, x), {.axis = 1});
    expect_near(floats(unstack(forward.jvp(y).tensor())[i]), floats(alone.jvp(again)));
  }
  expect_error<InvalidArgument>([&] { ForwardAccumulator none(x, x, {.directions = 3}); }, {"directions"});
}

TEST(Forward, ATensorWatchedAfterTheTapeKeptIt) {
  Tensor x = scalar(.5f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = exp(x);  // the tape keeps y for the gradient
  ForwardAccumulator forward(y, scalar(1));
  expect_value(forward.jvp(tape.gradient(y, x)), 1);  // dy/dx = y
}

TEST(Forward, OnAnotherThread) {
  ForwardAccumulator forward;
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      forward.stop();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  ASSERT_TRUE(thrown);
  expect_error<FailedPrecondition>([&] { std::rethrow_exception(thrown); }, {"thread"});
}

TEST(Forward, LongComputationsUseFlatMemory) {
  Tensor x = scalar(1);
  ForwardAccumulator forward(x, scalar(1));
  Tensor y = x;
  y = y * 1.0001f;
  const auto before = live_tensor_count();
  for (int i = 0; i < 1000; ++i) y = y * .9999f;
  EXPECT_LE(live_tensor_count(), before + 8);  // tangents go with their tensors
  EXPECT_TRUE(forward.jvp(y).has_value());
}

TEST(Forward, SlicesInManyDirections) {
  Tensor table = constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
  const auto tangent = [&](const Tensor& direction, const ForwardAccumulatorOptions& options) {
    ForwardAccumulator forward(table, direction, options);
    GradientTape tape;
    tape.watch(table);
    const Tensor y = reduce_sum(square(gather(table, constant({0, 2, 0}))));
    return forward.jvp(tape.gradient(y, table));
  };
  const Gradient one = tangent(ones({3, 2}), {});
  EXPECT_TRUE(one.is_slices());
  expect_near(one, {4, 4, 0, 0, 2, 2});
  const Gradient two = tangent(stack({ones({3, 2}), table}), {.directions = 2});
  EXPECT_EQ(two.tensor().shape(), Shape({2, 3, 2}));
  expect_near(two, {4, 4, 0, 0, 2, 2, 4, 8, 0, 0, 10, 12});
}

TEST(Forward, ANumberOfDirections) {
  expect_error<InvalidArgument>([] { ForwardAccumulator({.directions = -2}); }, {"directions", "-2"});
}

}  // namespace
}  // namespace capstan
