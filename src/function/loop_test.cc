// Loops: catalogue T, section 21.
#include <gtest/gtest.h>

#include "capstan/autodiff/forward_accumulator.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/function/control_flow.h"
#include "capstan/function/function.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

float number(const Tensor& tensor) { return tensor.item<float>(); }

struct Gradients2 {
  float y, da, db;
};
/// Value and gradients of a function of two numbers.
template <class F>
Gradients2 gradients(F&& f, float a, float b) {
  const Tensor x = constant(a), y = constant(b);
  GradientTape tape;
  tape.watch({x, y});
  const Tensor z = f(x, y);
  auto [dx, dy] = tape.gradient(z, x, y);
  return {number(z), number(dx), number(dy)};
}

TEST(Loop, T439_TwoInSequence) {
  auto f = function([](Tensor x) {
    const auto squared = [](Tensor start) {
      return while_loop([](Tensor v) { return v < 8.f; }, [](Tensor v) { return v * v; }, start);
    };
    return while_loop([](Tensor v) { return v < 32.f; }, [](Tensor v) { return v + v; }, squared(x));
  });
  const Tensor x = constant(2.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  EXPECT_EQ(number(y), 32);
  EXPECT_EQ(number(tape.gradient(y, x)), 64);
}

TEST(Loop, T440_SquaresBelow100) {
  auto f = function(
      [](Tensor x) { return while_loop([](Tensor v) { return v < 100.f; }, [](Tensor v) { return v * v; }, x); });
  const Tensor x = constant(2.f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = f(x);
  const Tensor z = y * y;
  EXPECT_EQ(number(y), 256);
  EXPECT_EQ(number(tape.gradient(y, x)), 1024);
  EXPECT_EQ(number(tape.gradient(z, x)), 524288);
}

TEST(Loop, T441_CapturedFactor) {
  auto f = function([](Tensor v, Tensor a) {
    return while_loop([](Tensor s) { return s < 100.f; }, [&](Tensor s) { return s * a; }, v);
  });
  const Gradients2 all = gradients(f, 2, 3);
  EXPECT_EQ(all.y, 162);
  EXPECT_EQ(all.da, 81);
  EXPECT_EQ(all.db, 216);
}

TEST(Loop, T443_TwoValues) {
  for (const int which : {0, 1}) {
    auto f = function([which](Tensor x, Tensor y) {
      auto [v, w] = while_loop([](Tensor a, Tensor) { return a < 45.f; },
                               [](Tensor a, Tensor b) { return std::tuple(a * b, a + b); }, std::tuple(x, y));
      return which ? w : v;
    });
    const Gradients2 all = gradients(f, 5, 3);
    EXPECT_EQ(all.y, which ? 23 : 120);
    EXPECT_EQ(all.da, which ? 4 : 39);
    EXPECT_EQ(all.db, which ? 6 : 55);
  }
}

TEST(Loop, T449_ReplacedByAConstant) {
  auto f = function(
      [](Tensor x) { return while_loop([](Tensor v) { return v < 3.f; }, [](Tensor) { return constant(5.f); }, x); });
  const Tensor x = constant(1.f);
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(number(tape.gradient(f(x), x)), 0);
}

TEST(Loop, T454_NestedGeometricSum) {
  auto f = function([](Tensor r) {
    auto outer = while_loop([](Tensor i, Tensor) { return i < 3; },
                            [&](Tensor i, Tensor s) {
                              auto inner = while_loop([](Tensor j, Tensor) { return j < 5; },
                                                      [&](Tensor j, Tensor t) { return std::tuple(j + 1, t * r); },
                                                      std::tuple(constant(0), s));
                              return std::tuple(i + 1, std::get<1>(inner) + 1.f);
                            },
                            std::tuple(constant(0), constant(0.f)));
    return std::get<1>(outer);
  });
  const Tensor r = constant(3.f);
  GradientTape tape;
  tape.watch(r);
  const Tensor y = f(r);
  const double q = 243;  // r^5
  EXPECT_EQ(number(y), static_cast<float>(1 + q + q * q));
  EXPECT_NEAR(number(tape.gradient(y, r)), 5 * 81 + 10 * 19683, 1);
}

TEST(Loop, HigherOrders) {
  auto f = function([](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 3; },
                                  [&](Tensor i, Tensor v) { return std::tuple(i + 1, v * x); },
                                  std::tuple(constant(0), x)));
  });  // x^4
  const Tensor x = constant(2.f);
  GradientTape t3;
  t3.watch(x);
  GradientTape t2;
  t2.watch(x);
  GradientTape t1;
  t1.watch(x);
  const Tensor y = f(x);
  const Tensor d1 = t1.gradient(y, x);
  const Tensor d2 = t2.gradient(d1, x);
  const Tensor d3 = t3.gradient(d2, x);
  EXPECT_EQ((Floats{number(y), number(d1), number(d2), number(d3)}), (Floats{16, 32, 48, 48}));
}

TEST(Loop, ForwardMode) {
  auto f = function([](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 3; },
                                  [&](Tensor i, Tensor v) { return std::tuple(i + 1, v * x); },
                                  std::tuple(constant(0), x)));
  });
  const Tensor x = constant(2.f);
  {
    ForwardAccumulator outer(x, constant(1.f));
    ForwardAccumulator inner(x, constant(1.f));
    const Tensor y = f(x);
    const Tensor first = inner.jvp(y);
    EXPECT_EQ(number(first), 32);
    EXPECT_EQ(number(outer.jvp(first)), 48);
  }
  {
    ForwardAccumulator forward(x, constant(1.f));
    GradientTape tape;
    tape.watch(x);
    const Tensor g = tape.gradient(f(x), x);
    EXPECT_EQ(number(g), 32);
    EXPECT_EQ(number(forward.jvp(g)), 48);
  }
  {
    GradientTape tape;
    tape.watch(x);
    ForwardAccumulator forward(x, constant(1.f));
    const Tensor d = forward.jvp(f(x));
    EXPECT_EQ(number(d), 32);
    EXPECT_EQ(number(tape.gradient(d, x)), 48);
  }
}

TEST(Function, ShapesThatOnlyARunTells) {
  auto mean = function([](Tensor x) { return reduce_mean(x * x); }, {.input_signature = {{spec<float>({-1})}}});
  const Tensor x = constant({1.f, 2.f});
  {
    GradientTape tape;
    tape.watch(x);
    EXPECT_EQ(tape.gradient(mean(x), x).tensor().to_vector<float>(), (Floats{1, 2}));
  }
  // Shapes that are known alike may still differ: here one argument is broadcast.
  auto product = function([](Tensor a, Tensor b) { return reduce_sum(a * b, {.axis = {0}}); },
                          {.input_signature = {{spec<float>({-1}), spec<float>({-1})}}});
  const Tensor one = constant({3.f});
  GradientTape tape;
  tape.watch({x, one});
  auto [dx, done] = tape.gradient(product(x, one), x, one);
  EXPECT_EQ(dx.tensor().to_vector<float>(), (Floats{3, 3}));
  EXPECT_EQ(done.tensor().to_vector<float>(), (Floats{3}));
}

TEST(Loop, T467_TypeThatChanges) {
  auto f = function([](Tensor x) {
    return while_loop([](Tensor) { return constant(true); }, [](Tensor) { return constant(1); }, x);
  });
  try {
    f(constant(1.f));
    FAIL();
  } catch (const TypeError& error) {
    for (const char* part : {"tensor 0", "float32", "int32", "1 iteration"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace capstan
