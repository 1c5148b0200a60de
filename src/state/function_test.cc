// Functions with variables: catalogue T, sections 14, 16 to 19.
#include "capstan/function/function.h"

#include <gtest/gtest.h>

#include "capstan/autodiff/forward_accumulator.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/linalg.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/state/variable.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

Floats floats(const Tensor& tensor) { return tensor.to_vector<float>(); }
float number(const Tensor& tensor) { return tensor.item<float>(); }

TEST(Function, AddsTwoTensors) {
  auto add = function([](Tensor a, Tensor b) { return a + b; });
  EXPECT_EQ(floats(add(constant({1.f, 2.f}), constant({10.f, 20.f}))), (Floats{11, 22}));
  EXPECT_EQ(floats(add(constant({1.f, 3.f}), constant({10.f, 20.f}))), (Floats{11, 23}));
  EXPECT_EQ(add.trace_count(), 1);
}

TEST(Function, T301_TransposedProduct) {
  auto f = function([](Tensor a, Tensor b) { return matmul(transpose(a), b); });
  const Tensor t = constant({{1.f, 2.f}, {3.f, 4.f}});
  const Tensor once = f(t, t);
  EXPECT_EQ(floats(once), (Floats{10, 14, 14, 20}));
  EXPECT_EQ(floats(f(once, t)), (Floats{52, 76, 74, 108}));
}

TEST(Function, T343_VariablesAreReadWhereTheyAre) {
  Variable v(1.f);
  auto read = function([&] { return v.value(); });
  EXPECT_EQ(number(read()), 1);
  v.assign(2.f);
  EXPECT_EQ(number(read()), 2);
  EXPECT_EQ(read.trace_count(), 1);
}

TEST(Function, T403_WritesKeepTheirOrder) {
  Variable v(1.f);
  auto f = function([&] {
    v.assign(v.value() + 1);
    v.assign(2 * v.value());
    return v.value();
  });
  EXPECT_EQ(number(f()), 4);
}

TEST(Function, T379_GradientOfACall) {
  Variable v(1.f);
  auto f = function([&] { return v.value() * v.value(); });
  for (int i = 0; i < 2; ++i) {
    GradientTape tape;
    const Tensor y = f();
    EXPECT_EQ(number(tape.gradient(y, v)), 2);
  }
  auto inside = function([&] {
    GradientTape tape;
    const Tensor y = v.value() * v.value();
    return Tensor(tape.gradient(y, v));
  });
  EXPECT_EQ(number(inside()), 2);
}

TEST(Function, T381_NestedCalls) {
  const Tensor b = constant(1.f);
  auto inner = function([](Tensor x, Tensor y) { return x * (x + y); });
  auto outer = function([&](Tensor x) { return inner(x, b); });
  const Tensor x = constant(5.f);
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(number(tape.gradient(outer(x), x)), 11);
  auto third = function([&](Tensor y) {
    GradientTape in;
    in.watch(y);
    return Tensor(in.gradient(outer(y), y));
  });
  EXPECT_EQ(number(third(x)), 11);
}

TEST(Function, T383_CosineToOrderThree) {
  auto f = function([](Tensor x) { return cos(x); });
  const Tensor x = constant(1.f);
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
  EXPECT_NEAR(number(y), 0.540302, 1e-5);
  EXPECT_NEAR(number(d1), -0.841471, 1e-5);
  EXPECT_NEAR(number(d2), -0.540302, 1e-5);
  EXPECT_NEAR(number(d3), 0.841471, 1e-5);
}

TEST(Function, ForwardModeThroughACall) {
  auto f = function([](Tensor x) { return x * x * x; });
  const Tensor x = constant(2.f);
  ForwardAccumulator outer(x, constant(1.f));
  ForwardAccumulator inner(x, constant(1.f));
  const Tensor y = f(x);
  const Tensor first = inner.jvp(y);
  EXPECT_EQ(number(first), 12);
  EXPECT_EQ(number(outer.jvp(first)), 12);
}

TEST(Function, T365_VariablesOfTheFirstCall) {
  std::optional<Variable> v;
  auto f = function([&](Tensor x) {
    if (!v) v.emplace(2.f);
    return *v * x;
  });
  EXPECT_EQ(number(f(constant(1.f))), 2);
  EXPECT_EQ(number(f(constant(3.f))), 6);
}

TEST(Function, T369_InitialValueFromTheArgument) {
  std::optional<Variable> v;
  auto f = function([&](Tensor x) {
    if (!v) v.emplace(2 * x);
    return *v * x;
  });
  EXPECT_EQ(number(f(constant(1.f))), 2);
  EXPECT_EQ(number(f(constant(3.f))), 6);
}

TEST(Function, T352_VariablesAreArguments) {
  Variable v(0.f), w(0.f);
  auto f = function([](const Variable& variable) { return variable.assign_add(1.f).value(); });
  EXPECT_EQ(number(f(v)), 1);
  EXPECT_EQ(number(f(v)), 2);
  EXPECT_EQ(number(f(w)), 1);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Function, T320_RecursionByANumber) {
  Variable x(1.f);
  std::function<Tensor(int, const Variable&)> call;
  auto f = function([&](int n, const Variable& v) -> Tensor { return n > 1 ? n * call(n - 1, v) : v.value(); });
  call = [&](int n, const Variable& v) { return f(n, v); };
  GradientTape tape;
  const Tensor y = f(5, x);
  EXPECT_EQ(number(y), 120);
  EXPECT_EQ(number(tape.gradient(y, x)), 120);
}

}  // namespace
}  // namespace capstan
