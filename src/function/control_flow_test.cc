// Branches: catalogue T, section 20.
#include "capstan/function/control_flow.h"

#include <gtest/gtest.h>

#include "capstan/autodiff/forward_accumulator.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/function/function.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

Floats floats(const Tensor& tensor) { return tensor.to_vector<float>(); }
float number(const Tensor& tensor) { return tensor.item<float>(); }

/// The value and the first derivatives of an eager or traced function of one number.
template <class F>
std::vector<float> derivatives(F&& f, float at, int order) {
  const Tensor x = constant(at);
  std::vector<std::unique_ptr<GradientTape>> tapes;
  for (int i = 0; i < order; ++i) {
    tapes.push_back(std::make_unique<GradientTape>());
    tapes.back()->watch(x);
  }
  Tensor y = f(x);
  std::vector<float> all{number(y)};
  while (!tapes.empty()) {
    auto tape = std::move(tapes.back());
    tapes.pop_back();
    const Gradient g = tape->gradient(y, x, {.unconnected_gradients = UnconnectedGradients::zero});
    all.push_back(number(y = g));
  }
  return all;
}

TEST(Cond, T421_GradientOfTheBranchTaken) {
  auto f = function([](Tensor pred, Tensor x) {
    return cond(
        pred, [&] { return 42.f * x; }, [&] { return 3.f * x; });
  });
  for (const bool taken : {true, false})
    EXPECT_EQ(derivatives([&](Tensor x) { return f(constant(taken), x); }, 10, 1),
              (Floats{taken ? 420.f : 30.f, taken ? 42.f : 3.f}));
  EXPECT_EQ(f.trace_count(), 1);
  auto same = function([](Tensor pred, Tensor x) {
    return cond(
        pred, [&] { return x; }, [&] { return x; });
  });
  EXPECT_EQ(derivatives([&](Tensor x) { return same(constant(true), x); }, 10, 1), (Floats{10, 1}));
}

TEST(Cond, T422_SecondOrder) {
  auto f = function([](Tensor pred, Tensor x) {
    return cond(
        pred, [&] { return x * x * x; }, [&] { return x; });
  });
  EXPECT_EQ(derivatives([&](Tensor x) { return f(constant(true), x); }, 3, 3), (Floats{27, 27, 18, 6}));
  EXPECT_EQ(derivatives([&](Tensor x) { return f(constant(false), x); }, 3, 2), (Floats{3, 1, 0}));
}

TEST(Cond, T423_ABranchThatDoesNotUseAnInputGivesZero) {
  auto f = function([](Tensor pred, Tensor x, Tensor y) {
    return cond(
        pred, [&] { return x * y * 2.f; }, [&] { return constant(2.f); });
  });
  for (const bool taken : {true, false}) {
    const Tensor x = constant(1.f), y = constant(2.f);
    GradientTape tape;
    tape.watch({x, y});
    auto [dx, dy] = tape.gradient(f(constant(taken), x, y), x, y);
    EXPECT_EQ(number(dx), taken ? 4 : 0);
    EXPECT_EQ(number(dy), taken ? 2 : 0);
  }
}

TEST(Cond, T424_Nested) {
  auto f = function([](Tensor outer, Tensor inner, Tensor x, Tensor y) {
    return cond(
        outer, [&] { return constant(2.f); },
        [&] {
          return cond(
              inner, [&] { return x * y * 2.f; }, [&] { return x * 5.f; });
        });
  });
  const float expected[4][2] = {{0, 0}, {0, 0}, {4, 2}, {5, 0}};
  for (int i = 0; i < 4; ++i) {
    const Tensor x = constant(1.f), y = constant(2.f);
    GradientTape tape;
    tape.watch({x, y});
    auto [dx, dy] = tape.gradient(f(constant(i < 2), constant(i % 2 == 0), x, y), x, y);
    EXPECT_EQ(number(dx), expected[i][0]);
    EXPECT_EQ(number(dy), expected[i][1]);
  }
}

TEST(Cond, ForwardMode) {
  auto f = function([](Tensor pred, Tensor x) {
    return cond(
        pred, [&] { return x * x * x; }, [&] { return x; });
  });
  const Tensor x = constant(3.f);
  ForwardAccumulator outer(x, constant(1.f));
  ForwardAccumulator inner(x, constant(1.f));
  const Tensor y = f(constant(true), x);
  const Tensor first = inner.jvp(y);
  EXPECT_EQ(number(first), 27);
  EXPECT_EQ(number(outer.jvp(first)), 18);
}

TEST(Cond, T437_CaseOutOfRangeTakesTheLast) {
  auto f = function([](Tensor index) {
    const auto value = [](float size) { return [size] { return size * ones(Shape{2}); }; };
    return switch_case(index, value(1), value(2), value(3), value(4), value(5));
  });
  EXPECT_EQ(floats(f(constant(22))), (Floats{5, 5}));
  EXPECT_EQ(floats(f(constant(-1))), (Floats{5, 5}));
  EXPECT_EQ(floats(f(constant(1))), (Floats{2, 2}));
}

TEST(Cond, T431_BranchesMustMatch) {
  auto f = function([](Tensor pred) {
    return cond(
        pred, [] { return constant(1.f); }, [] { return constant(1); });
  });
  try {
    f(constant(true));
    FAIL();
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("both branches"), std::string::npos) << error.what();
  }
}

TEST(Loop, T465_RunsAndCounts) {
  auto f = function([](Tensor x) {
    return while_loop([](Tensor i, Tensor) { return i < 3; },
                      [](Tensor i, Tensor v) { return std::tuple(i + 1, v * v); }, std::tuple(constant(0), x));
  });
  const auto [i, v] = f(constant(2.f));
  EXPECT_EQ(i.item<int>(), 3);
  EXPECT_EQ(number(v), 256);
  auto limited = function([](Tensor x) {
    return while_loop([](Tensor) { return constant(true); }, [](Tensor v) { return v * v; }, x,
                      {.maximum_iterations = 3});
  });
  EXPECT_EQ(number(limited(constant(2.f))), 256);
}

}  // namespace
}  // namespace capstan
