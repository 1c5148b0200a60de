// Loops and branches with variables: catalogue T, sections 20 and 21.
#include <gtest/gtest.h>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/function/control_flow.h"
#include "capstan/function/function.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/state/variable.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

Floats floats(const Tensor& tensor) { return tensor.to_vector<float>(); }
float number(const Tensor& tensor) { return tensor.item<float>(); }

/// The value and the gradient with respect to `x` of an eager and a traced run, which agree.
template <class F>
std::pair<Floats, Floats> value_and_gradient_of(F f, const Tensor& x) {
  std::pair<Floats, Floats> results[2];
  auto traced = function(f);
  for (const bool is_traced : {false, true}) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = is_traced ? traced(x) : f(x);
    results[is_traced] = {floats(y), floats(tape.gradient(y, x))};
  }
  EXPECT_EQ(results[0], results[1]);
  return results[1];
}

TEST(Loop, T446_Doublings) {
  const auto doubled = [](Tensor x, int times) {
    return std::get<1>(while_loop([times](Tensor i, Tensor) { return i < times; },
                                  [](Tensor i, Tensor v) { return std::tuple(i + 1, v + v); },
                                  std::tuple(constant(0), x)));
  };
  EXPECT_EQ(value_and_gradient_of([&](Tensor x) { return doubled(x, 10); }, constant(2.f)).second, (Floats{1024}));
  EXPECT_EQ(value_and_gradient_of([&](Tensor x) { return doubled(doubled(x, 5), 5); }, constant(2.f)).second,
            (Floats{1024}));
  EXPECT_EQ(value_and_gradient_of([&](Tensor x) { return doubled(x, 5) + doubled(x, 5); }, constant(2.f)).second,
            (Floats{64}));
}

TEST(Loop, T447_UnknownStaticShape) {
  auto f = function(
      [](Tensor x) {
        return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 4; },
                                      [&](Tensor i, Tensor v) { return std::tuple(i + 1, v * x); },
                                      std::tuple(constant(0), 2 * x), {.shape_invariants = {{}, Shape{-1}}}));
      },
      {.input_signature = {{spec<float>({-1})}}});
  const Tensor x = constant({3.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(floats(tape.gradient(f(x), x)), (Floats{810, 2560}));
}

TEST(Loop, T448_ZeroIterations) {
  const auto f = [](Tensor x) {
    const Tensor r = while_loop([](Tensor) { return constant(false); }, [](Tensor v) { return v * v; }, x);
    return r + square(x);
  };
  EXPECT_EQ(value_and_gradient_of(f, constant({1.f, 2.f})).second, (Floats{3, 5}));
}

TEST(Loop, T451_CapturedInTheConditionOnly) {
  const Tensor one = constant(1.f);
  EXPECT_EQ(value_and_gradient_of(
                [&](Tensor x) {
                  return while_loop([&](Tensor v) { return v + one < 9.f; }, [](Tensor v) { return v * 3; }, x);
                },
                constant(2.f)),
            (std::pair<Floats, Floats>{{18}, {9}}));
}

TEST(Loop, T452_VariableMultipliedTwice) {
  Variable v(1.f);
  auto f = function([&] {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 2; },
                                  [&](Tensor i, Tensor x) { return std::tuple(i + 1, x * v); },
                                  std::tuple(constant(0), constant(2.f))));
  });
  GradientTape tape;
  EXPECT_EQ(number(tape.gradient(f(), v)), 4);
}

TEST(Loop, T453_SumOfACapturedTensor) {
  Variable v(1.f);
  const Tensor a = constant({1.f, 3.f});
  auto f = function([&](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 2; },
                                  [&](Tensor i, Tensor s) { return std::tuple(i + 1, s * reduce_sum(a) * v); },
                                  std::tuple(constant(0), x)));
  });
  GradientTape tape;
  EXPECT_EQ(number(tape.gradient(f(constant(1.f)), v)), 32);
}

TEST(Loop, T457_SparseReads) {
  Variable table(constant({1.f, 2.f, 3.f, 4.f}));
  const Tensor ids = constant({1, 3});
  auto f = function([&] {
    return std::get<1>(
        while_loop([](Tensor i, Tensor) { return i < 2; },
                   [&](Tensor i, Tensor s) { return std::tuple(i + 1, s + reduce_sum(gather(table, ids))); },
                   std::tuple(constant(0), constant(0.f))));
  });
  GradientTape tape;
  const Gradient gradient = tape.gradient(f(), table);
  EXPECT_EQ(floats(gradient.tensor()), (Floats{0, 2, 0, 2}));
}

TEST(Loop, T463_GradientInsideABranchAndALoop) {
  const auto loop_gradient = [](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor n = while_loop([](Tensor s) { return s < 10.f; }, [&](Tensor s) { return s + x; }, constant(1.f));
    return Tensor(tape.gradient(n, x));
  };
  auto in_branch = function([&](Tensor pred, Tensor x) {
    return cond(
        pred, [&] { return loop_gradient(x); }, [&] { return x; });
  });
  EXPECT_EQ(number(in_branch(constant(true), constant(1.f))), 9);
  auto in_loop = function([&](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 1; },
                                  [&](Tensor i, Tensor) { return std::tuple(i + 1, loop_gradient(x)); },
                                  std::tuple(constant(0), constant(0.f))));
  });
  EXPECT_EQ(number(in_loop(constant(1.f))), 9);
}

struct Pair {
  Tensor first, second;
};
struct State {
  Pair pair;
  std::vector<Tensor> list;
  Tensor last;
};

TEST(Loop, T469_NestedStructures) {
  auto f = function([](Tensor n) {
    const State start{{constant(0), constant(1)}, {constant(2), constant(3)}, constant(4)};
    const State end =
        while_loop([&](const State& s) { return s.pair.first < n; },
                   [](const State& s) {
                     return State{{s.pair.first + 1, s.pair.second}, {s.list[0] + 1, s.list[1] + 2}, s.last + 2};
                   },
                   start);
    return end;
  });
  const State end = f(constant(100));
  EXPECT_EQ(end.pair.first.item<int>(), 100);
  EXPECT_EQ(end.pair.second.item<int>(), 1);
  EXPECT_EQ(end.list[0].item<int>(), 102);
  EXPECT_EQ(end.list[1].item<int>(), 203);
  EXPECT_EQ(end.last.item<int>(), 204);
}

TEST(Loop, T478_AnErrorDoesNotStick) {
  const Tensor table = constant({1.f, 2.f, 3.f});
  auto f = function([&](Tensor n) {
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                  [&](Tensor i, Tensor s) { return std::tuple(i + 1, s + gather(table, i)); },
                                  std::tuple(constant(0), constant(0.f))));
  });
  EXPECT_EQ(number(f(constant(3))), 6);
  EXPECT_THROW(f(constant(4)), InvalidArgument);
  EXPECT_EQ(number(f(constant(2))), 3);
}

TEST(Loop, T620_ATapeInTheBodyIsDifferentiatedFromOutside) {
  const auto f = [](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 3; },
                                  [&](Tensor i, Tensor s) {
                                    GradientTape tape;
                                    tape.watch(s);
                                    const Tensor y = s * s + x;
                                    const Tensor slope = tape.gradient(y, s);
                                    return std::tuple(i + 1, s + slope + x);
                                  },
                                  std::tuple(constant(0), constant(0.f))));
  };
  EXPECT_EQ(value_and_gradient_of(f, constant(1.f)), (std::pair<Floats, Floats>{{13}, {13}}));
}

TEST(Loop, T622_EarlyExit) {
  const auto f = [](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor v) { return logical_and(i < 10, v <= 50.f); },
                                  [](Tensor i, Tensor v) { return std::tuple(i + 1, v * v); },
                                  std::tuple(constant(0), x)));
  };
  EXPECT_EQ(value_and_gradient_of(f, constant(2.f)), (std::pair<Floats, Floats>{{256}, {1024}}));
}

TEST(Cond, T409_CondInCondWritesAVariable) {
  Variable v(1.f);
  auto f = function([&](Tensor p, Tensor q) {
    cond(
        p, [&] { v.assign_add(1.f); },
        [&] {
          cond(
              q, [&] { v.assign(v * 2); }, [&] { v.assign(v * 3); });
        });
    return v.value();
  });
  const bool calls[4][2] = {{false, false}, {false, true}, {true, true}, {true, false}};
  const float expected[] = {3, 6, 7, 8};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(number(f(constant(calls[i][0]), constant(calls[i][1]))), expected[i]);
}

TEST(Cond, T410_WriteBesideABranch) {
  Variable v(3.f);
  auto before = function([&](Tensor p) {
    v.assign(v * 2);
    cond(
        p, [&] { v.assign_add(4.f); }, [] {});
    return v.value();
  });
  EXPECT_EQ(number(before(constant(false))), 6);
  EXPECT_EQ(number(before(constant(false))), 12);
  EXPECT_EQ(number(before(constant(true))), 28);
}

TEST(Cond, T428_CapturedVariableInOneBranch) {
  Variable v(2.f);
  auto f = function([&](Tensor p) {
    return cond(
        p, [&] { return v * v; }, [] { return constant(1.f); });
  });
  for (const bool taken : {true, false}) {
    GradientTape tape;
    const Tensor y = f(constant(taken));
    EXPECT_EQ(number(tape.gradient(y, v)), taken ? 4 : 0);
  }
}

TEST(Cond, T436_SparseInOneBranchDenseInTheOther) {
  Variable table(constant({1.f, 2.f, 3.f}));
  auto f = function([&](Tensor p) {
    return cond(
        p, [&] { return reduce_sum(gather(table, constant({1}))); }, [&] { return reduce_sum(table.value()); });
  });
  for (const bool taken : {true, false}) {
    GradientTape tape;
    const Tensor y = f(constant(taken));
    EXPECT_EQ(floats(tape.gradient(y, table)), taken ? (Floats{0, 1, 0}) : (Floats{1, 1, 1}));
  }
}

}  // namespace
}  // namespace capstan
