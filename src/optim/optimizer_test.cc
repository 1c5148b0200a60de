// Catalogue V, section N: what it says of SGD, momentum and Adam.
#include "capstan/optim/optimizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "ops/training.h"

namespace capstan::optim {
namespace {

float value(const Variable& v) { return v.value().item<float>(); }

/// w after each step for a constant gradient.
template <class Optimizer>
void expect_path(const Optimizer& optimizer, std::initializer_list<double> path,
                 std::initializer_list<float> gradients) {
  Variable w(1.f);
  auto g = gradients.begin();
  for (double expected : path) {
    optimizer.apply(Gradient(constant(*g)), w);
    EXPECT_NEAR(value(w), expected, 1e-6);
    if (g + 1 != gradients.end()) ++g;
  }
}

void v1_momentum(const Variable& w, const Variable& accum, float rate, float momentum, bool nesterov) {
  const NesterovAttributes attributes{.use_locking = false, .use_nesterov = nesterov};
  capstan::apply_all(apply_momentum_op,
                     {w.handle(), accum.handle(), constant(rate), constant(0.5f), constant(momentum)}, &attributes);
}

TEST(Momentum, V229_AccumulatesGradients) {
  Variable w(1.f), a(0.f);
  for (auto [expected_a, expected_w] : {std::pair{0.5, 0.95}, {0.95, 0.855}, {1.355, 0.7195}}) {
    v1_momentum(w, a, 0.1f, 0.9f, false);
    EXPECT_NEAR(value(a), expected_a, 1e-6);
    EXPECT_NEAR(value(w), expected_w, 1e-6);
  }
}

TEST(Momentum, V111_AVariableThatIsItsOwnAccumulator) {
  Variable w(1.f);
  v1_momentum(w, w, 0.1f, 0.9f, false);  // takes the one lock once
  EXPECT_TRUE(w.is_initialized());
}

/// The message of the InvalidArgument that a training step throws.
std::string step_error(const Variable& w, const Variable& accum, const Tensor& rate, const Tensor& gradient) {
  const NesterovAttributes attributes{.use_locking = false, .use_nesterov = false};
  try {
    capstan::apply_all(apply_momentum_op, {w.handle(), accum.handle(), rate, gradient, constant(0.9f)}, &attributes);
  } catch (const InvalidArgument& error) {
    return error.message();
  }
  return "no error";
}

TEST(Momentum, V112_BadInputsOfATrainingStep) {
  const Variable w(constant({1.f, 2.f})), a(constant({0.f, 0.f})), other(constant({0.f}));
  const Tensor g = constant({1.f, 1.f});
  const std::string rate = step_error(w, a, constant({0.1f}), g);
  EXPECT_NE(rate.find("lr"), std::string::npos) << rate;
  EXPECT_NE(rate.find("scalar"), std::string::npos) << rate;
  for (const std::string& shapes :
       {step_error(w, a, constant(0.1f), constant({1.f, 1.f, 1.f})), step_error(w, other, constant(0.1f), g)})
    EXPECT_NE(shapes.find("[2]"), std::string::npos) << shapes;
  EXPECT_EQ(w.value().to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Momentum, V230_Nesterov) {
  Variable w(1.f), a(0.f);
  for (double expected : {0.905, 0.7695, 0.59755}) {
    v1_momentum(w, a, 0.1f, 0.9f, true);
    EXPECT_NEAR(value(w), expected, 1e-6);
  }
}

TEST(SGD, V231_KerasMomentum) {
  SGD sgd{{.learning_rate = 0.1, .momentum = 0.9}};
  Variable w(1.f);
  for (auto [expected_v, expected_w] : {std::pair{-0.05, 0.95}, {-0.095, 0.855}, {-0.1355, 0.7195}}) {
    sgd.apply(Gradient(constant(0.5f)), w);
    EXPECT_NEAR(value(sgd.slot(w, "momentum")), expected_v, 1e-6);
    EXPECT_NEAR(value(w), expected_w, 1e-6);
  }
  expect_path(SGD{{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}}, {0.905, 0.7695, 0.59755}, {0.5f});
}

TEST(SGD, V232_TheFormsDifferOnceTheRateChanges) {
  Variable w(1.f), a(0.f);
  v1_momentum(w, a, 0.1f, 0.9f, false);
  v1_momentum(w, a, 0.01f, 0.9f, false);
  EXPECT_NEAR(value(w), 0.9405, 1e-6);
  SGD sgd{{.learning_rate = 0.1, .momentum = 0.9}};
  Variable x(1.f);
  sgd.apply(Gradient(constant(0.5f)), x);
  sgd.learning_rate().assign(0.01f);
  sgd.apply(Gradient(constant(0.5f)), x);
  EXPECT_NEAR(value(x), 0.90, 1e-6);
}

TEST(SGD, V233_MomentumOutsideItsRange) {
  EXPECT_THROW(SGD({.momentum = 1.5}), InvalidArgument);
  EXPECT_THROW(SGD({.momentum = -0.1}), InvalidArgument);
  SGD plain{{.learning_rate = 0.1}};
  Variable w(1.f);
  plain.apply(Gradient(constant(0.5f)), w);
  EXPECT_THROW(plain.slot(w, "momentum"), NotFound);
  EXPECT_NEAR(value(w), 0.95, 1e-6);
}

TEST(Adam, V253_Defaults) {
  const AdamOptions options;
  EXPECT_EQ(options.learning_rate, 1e-3);
  EXPECT_EQ(options.beta_1, 0.9);
  EXPECT_EQ(options.beta_2, 0.999);
  EXPECT_EQ(options.epsilon, 1e-7);
}

TEST(Adam, V254_Trajectory) {
  Adam adam{{.learning_rate = 1e-3, .epsilon = 1e-8}};
  Variable w(1.f);
  const double ws[] = {0.9990000063, 0.9980000108, 0.9970000145}, ms[] = {0.05, 0.095, 0.1355},
               vs[] = {2.5e-4, 4.9975e-4, 7.4925025e-4};
  for (int i = 0; i < 3; ++i) {
    adam.apply(Gradient(constant(0.5f)), w);
    EXPECT_NEAR(value(w), ws[i], 5e-6);
    EXPECT_NEAR(value(adam.slot(w, "m")), ms[i], 1e-6);
    EXPECT_NEAR(value(adam.slot(w, "v")), vs[i], 1e-8);
  }
}

TEST(Adam, V255_ChangingGradients) {
  expect_path(Adam{{.learning_rate = 0.1}}, {0.9000006325, 0.8808509328, 0.8461083421}, {0.5f, -0.3f, 0.2f});
}

TEST(Adam, V256_EpsilonBesideTheUncorrectedRoot) {
  expect_path(Adam{{.learning_rate = 0.1, .epsilon = 0.1}}, {0.9863472941, 0.9680766286, 0.9465865505}, {0.5f});
}

TEST(Adam, Report39_TinyGradient) {
  Adam adam{{.learning_rate = 1e-3}};
  Variable w(0.f);
  adam.apply(Gradient(constant(1e-8f)), w);
  EXPECT_NEAR(-value(w), 3.1523e-6, 2e-9);
}

TEST(Adam, Report42_SparseGradientsMoveEveryRow) {
  Adam adam{{.learning_rate = 0.1}};
  Variable table(ones(Shape{2, 1}));
  const auto rows = [&](int row) { return IndexedSlices{constant({{1.f}}), constant({row}), constant({2, 1})}; };
  adam.apply(Gradient(rows(0)), table);
  const float after_one = table.value().values<float>()[0];
  adam.apply(Gradient(rows(1)), table);
  EXPECT_LT(table.value().values<float>()[0], after_one);
}

TEST(SGD, SparseUpdateTouchesItsRowsOnly) {
  SGD sgd{{.learning_rate = 1}};
  Variable table(ones(Shape{4, 2}));
  // Row 2 twice: the values are summed.
  const IndexedSlices slices{constant({{1.f, 1.f}, {2.f, 2.f}, {3.f, 3.f}}), constant({2, 0, 2}), constant({4, 2})};
  sgd.apply(Gradient(slices), table);
  EXPECT_EQ(table.value().to_vector<float>(), (std::vector<float>{-1, -1, 1, 1, -3, -3, 1, 1}));
  SGD momentum{{.learning_rate = 1, .momentum = 0.5}};
  Variable other(ones(Shape{4, 2}));
  momentum.apply(Gradient(slices), other);
  EXPECT_EQ(other.value().to_vector<float>(), (std::vector<float>{-1, -1, 1, 1, -3, -3, 1, 1}));
}

/// `apply` with the second gradient wrong changes nothing.
template <class E>
void expect_refusal(const Gradient& bad, const std::string& message) {
  Variable first(constant({1.f, 2.f})), second(ones(Shape{2, 1}), {.name = "table"});
  Adam adam;
  const std::vector<Gradient> gradients{Gradient(constant({1.f, 1.f})), bad};
  try {
    adam.apply(gradients, std::vector<Variable>{first, second});
    ADD_FAILURE() << "no error";
  } catch (const E& error) {
    EXPECT_EQ(error.message(), "Adam.apply: the gradient of 'table:0'" + message);
  }
  EXPECT_EQ(first.value().to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_THROW(adam.slot(first, "m"), NotFound);
  EXPECT_EQ(adam.iterations().value().item<std::int64_t>(), 0);
}

TEST(Optimizer, ChecksAllBeforeTheFirstUpdate) {
  expect_refusal<InvalidArgument>(constant({1.f, 1.f}), " must have the variable's shape [2,1], got [2]");
  expect_refusal<TypeError>(constant({{1.0}, {1.0}}), " must have the variable's type float32, got float64");
  const Tensor row = constant({{1.f}}), shape = constant({2, 1});
  expect_refusal<InvalidArgument>(Gradient(IndexedSlices{row, constant({2}), shape}), ": row 2 is not in [0, 2)");
  expect_refusal<InvalidArgument>(Gradient(IndexedSlices{row, constant({-1}), shape}), ": row -1 is not in [0, 2)");
  expect_refusal<TypeError>(Gradient(IndexedSlices{row, constant({1.f}), shape}),
                            ": indices must be int32 or int64, got float32");
  expect_refusal<InvalidArgument>(Gradient(IndexedSlices{row, constant({0, 1}), shape}),
                                  ": slices must be rows of shape [2,1], got indices [2] and values [1,1]");
}

TEST(Optimizer, AVariableThatChangedItsShape) {
  Variable v(constant({1.f}), {.shape = Shape{-1}});
  Adam adam;
  adam.apply(Gradient(constant({1.f})), v);
  v.assign(constant({1.f, 2.f}));
  EXPECT_THROW(adam.apply(Gradient(constant({1.f, 1.f})), v), FailedPrecondition);
}

TEST(Optimizer, EmptyListsAreNoStep) {
  SGD sgd;
  sgd.apply(std::vector<Gradient>{}, std::vector<Variable>{});
  EXPECT_EQ(sgd.iterations().value().item<std::int64_t>(), 0);
}

TEST(Optimizer, ThreadsTakeTurns) {
  SGD sgd{{.learning_rate = 1, .momentum = 0.5}};
  Variable v(0.f);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int step = 0; step < 50; ++step) sgd.apply(Gradient(constant(0.f)), v);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sgd.iterations().value().item<std::int64_t>(), 200);
}

TEST(Optimizer, MissingGradients) {
  SGD sgd;
  Variable a(1.f, {.name = "a"}), b(1.f, {.name = "b"});
  std::string warning;
  const WarningHook before = set_warning_hook([&](std::string_view text) { warning = text; });
  sgd.apply(std::vector<Gradient>{Gradient(constant(1.f)), Gradient()}, std::vector<Variable>{a, b});
  set_warning_hook(before);
  EXPECT_NE(warning.find("b:0"), std::string::npos);
  EXPECT_EQ(sgd.iterations().value().item<std::int64_t>(), 1);
  EXPECT_THROW(sgd.apply(std::vector<Gradient>{Gradient(), Gradient()}, std::vector<Variable>{a, b}), InvalidArgument);
  EXPECT_THROW(sgd.apply(std::vector<Gradient>{Gradient()}, std::vector<Variable>{a, b}), InvalidArgument);
}

}  // namespace
}  // namespace capstan::optim
