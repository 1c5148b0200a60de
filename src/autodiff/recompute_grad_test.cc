// Catalogue T, section 12: functions that are run again for their gradients.
#include <algorithm>

#include "autodiff/test_tape.h"
#include "base/memory.h"
#include "capstan/autodiff/custom_gradient.h"
#include "op/observer.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

TEST(RecomputeGrad, T275_RunsOnceForwardAndOncePerGradient) {
  int runs = 0;
  const auto f = recompute_grad([&](Tensor x) {
    ++runs;
    return x * x;
  });
  Tensor x = scalar(1.1f);
  GradientTape tape;
  tape.watch(x);
  Tensor y = f(f(f(f(x))));
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(tape.entry_count(), 5u);  // x and four functions: nothing of the bodies
  expect_near(tape.gradient(y, x), {16 * std::pow(1.1f, 15.f)}, 1e-5);
  EXPECT_EQ(runs, 8);
}

TEST(RecomputeGrad, T277_OneTensorInTwoPlaces) {
  Tensor x = scalar(3);
  const auto product = [](Tensor a, Tensor b) { return a * b; };
  expect_value(slope([&](Tensor t) { return recompute_grad(product)(t, t); }, x), 6);
  expect_value(slope([&](Tensor t) { return recompute_grad(product)(t, 2 * t); }, x), 12);
}

TEST(RecomputeGrad, T277_UnusedArgumentsGetZeros) {
  Tensor x = scalar(3), y = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch({x, y});
  Tensor z = recompute_grad([](Tensor a, Tensor) { return a; })(x, y);
  EXPECT_FALSE(z.is_same(x));
  auto [dx, dy] = tape.gradient(z, x, y);
  expect_value(dx, 1);
  expect_near(dy, {0, 0});
}

TEST(RecomputeGrad, T278_VariablesInside) {
  Variable v(fill({10, 10}, scalar(10)));
  Tensor a = ones({10, 10});
  const auto check = [&](const auto& f) {
    GradientTape tape;
    tape.watch(a);
    const auto outputs = nest::flatten(f(a));
    return tape.gradient(outputs, std::vector{a, v.handle()});
  };
  const auto one = [&](Tensor x) { return x * v; };
  const auto two = [&](Tensor x) { return std::pair(x * v, 2 * x * v); };
  for (int i = 0; i < 2; ++i) {
    expect_near(check(recompute_grad(one))[i], floats(check(one)[i]));
    expect_near(check(recompute_grad(two))[i], floats(check(two)[i]));
  }
}

TEST(RecomputeGrad, T279_ThreeOrders) {
  const auto plain = [](Tensor x) { return reduce_prod(square(tanh(x))); };
  const auto f = recompute_grad(plain);
  Tensor x = constant({1.f});
  EXPECT_NEAR(f(x).item<float>(), 0.580026, 1e-5);
  expect_near(slope(f, x), {0.6397f}, 1e-3);
  const auto derived = [](const auto& g) { return [&](Tensor t) { return slope(g, t).tensor(); }; };
  const auto first = derived(f);
  const auto plain_first = derived(plain);
  const auto second = derived(first);
  const auto plain_second = derived(plain_first);
  expect_near(slope(first, x), floats(slope(plain_first, x)));
  expect_near(slope(second, x), floats(slope(plain_second, x)));
}

TEST(RecomputeGrad, T281_KeepsOnlyItsInputs) {
  const auto layers = [](Tensor x) {
    for (int i = 0; i < 20; ++i) x = tanh(x * 1.01f);
    return x;
  };
  const auto kept = [&](const auto& f) {
    Tensor x = ones({1000, 100});
    GradientTape tape;
    tape.watch(x);
    const auto tensors = live_tensor_count();
    const auto bytes = memory::statistics().bytes_in_use;
    Tensor y = f(x);
    return std::pair(live_tensor_count() - tensors, memory::statistics().bytes_in_use - bytes);
  };
  const auto [plain_tensors, plain_bytes] = kept(layers);
  const auto [tensors, bytes] = kept(recompute_grad(layers));
  EXPECT_LE(tensors, 2);  // y, and the 1.01 of nobody
  EXPECT_GE(plain_tensors, 20);
  EXPECT_LE(bytes, 500'000u);
  EXPECT_GE(plain_bytes, 20 * 400'000u);
}

/// The most bytes in use at any call while it lives.
class PeakBytes final : public Observer {
 public:
  PeakBytes() { ObserverList::push(*this); }
  ~PeakBytes() override { ObserverList::remove(*this); }
  void on_call(const OpCall&) override { peak = std::max(peak, memory::statistics().bytes_in_use - before_); }
  std::uint64_t peak = 0;

 private:
  const std::uint64_t before_ = memory::statistics().bytes_in_use;
};

TEST(RecomputeGrad, T281_PeakOfAChain) {
  const auto part = [](Tensor x) {
    for (int i = 0; i < 10; ++i) x = tanh(x);
    return x;
  };
  const auto peak_of = [](const auto& f) {
    Tensor x = ones({100, 100});
    PeakBytes bytes;
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 10; ++i) y = f(y);
    EXPECT_TRUE(tape.gradient(y, x).has_value());
    return bytes.peak;
  };
  EXPECT_LT(peak_of(recompute_grad(part)), peak_of(part) / 2);
}

TEST(RecomputeGrad, T602_TheVariableEachTime) {
  Variable v(3.f);
  const auto f = recompute_grad([&](Tensor a) { return a * v; });
  for (int i = 0; i < 3; ++i) {
    GradientTape tape;
    expect_value(tape.gradient(f(scalar(2)), v), 2);
  }
}

TEST(RecomputeGrad, T603_NoForwardMode) {
  const auto f = recompute_grad([](Tensor x) { return sin(x); });
  Tensor x = scalar(0.5f);
  expect_value(slope(f, x), std::cos(0.5f));
  expect_value(slope([&](Tensor t) { return slope(f, t).tensor(); }, x), -std::sin(0.5f));
  ForwardAccumulator forward(x, scalar(1));
  expect_error<Unimplemented>([&] { f(x); }, {"recompute_grad", "forward mode"});
  // What does not depend on the primals is left alone.
  expect_value(slope(f, scalar(0.5f)), std::cos(0.5f));
}

TEST(RecomputeGrad, VariablesAsArguments) {
  Variable v(3.f), unused(1.f);
  GradientTape tape;
  Tensor y = recompute_grad([](const Variable& a, const Variable& b, const Variable&) { return a * b; })(v, v, unused);
  auto [dv, dunused] = tape.gradient(y, v, unused);
  expect_value(dv, 6);
  expect_value(dunused, 0);
}

TEST(RecomputeGrad, InsideEachOther) {
  Variable v(2.f);
  const auto inner = recompute_grad([&](Tensor x) { return x * x * v; });
  const auto outer = recompute_grad([&](Tensor x) { return inner(inner(x)); });
  const auto custom = custom_gradient([&](Tensor x) {
    return with_gradient(outer(x), [](Tensor dy, const std::vector<Variable>& variables) {
      return std::pair(dy, std::vector{dy * static_cast<float>(variables.size())});
    });
  });
  Tensor x = scalar(1);
  const auto gradients = [&](const auto& f) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), std::vector{x, v.handle()});
  };
  expect_value(gradients(outer)[0], 4 * 8);  // v^3 x^4
  expect_value(gradients(outer)[1], 3 * 4);
  expect_value(gradients(custom)[1], 1);
}

TEST(RecomputeGrad, StructuresAndIntegers) {
  Tensor x = constant({1.f, 2.f}), index = constant({1, 0});
  GradientTape tape;
  tape.watch(x);
  const auto out = recompute_grad([](std::map<std::string, Tensor> in, Tensor at) {
    return std::map<std::string, Tensor>{{"picked", gather(in.at("x"), at) * constant({1.f, 10.f})}, {"at", at}};
  })(std::map<std::string, Tensor>{{"x", x}}, index);
  expect_near(tape.gradient(out.at("picked"), x), {10, 1});
}

TEST(RecomputeGrad, NothingStaysAlive) {
  const auto before = live_tensor_count();
  for (int i = 0; i < 3; ++i) {
    const auto f = recompute_grad([](Tensor x) { return x * x; });
    expect_value(slope([&](Tensor t) { return slope(f, t).tensor(); }, scalar(3)), 2);
  }
  EXPECT_EQ(live_tensor_count(), before);
}

TEST(RecomputeGrad, AnotherResultTheSecondTime) {
  const Tensor x = constant({1.f, 2.f});
  const auto slope_of = [&](std::vector<Tensor> first, std::vector<Tensor> second) {
    bool again = false;
    const auto f = recompute_grad([&](Tensor t) {
      std::vector<Tensor> results = std::exchange(again, true) ? second : first;
      for (Tensor& result : results)
        result = result.is_defined() ? result * reduce_sum(cast(t, result.dtype())) : result;
      return results;
    });
    return gradient_of(f)(x).tensor();
  };
  expect_near(floats(slope_of({x}, {x})), {3, 3});
  expect_error<FailedPrecondition>(
      [&] {
        slope_of({x}, {x, x, x});
      },
      {"recompute_grad: 3 outputs after 1", "the same"});
  expect_error<FailedPrecondition>([&] { slope_of({x, x}, {x}); }, {"1 outputs after 2"});
  expect_error<FailedPrecondition>([&] { slope_of({x}, {scalar(1)}); }, {"output 0 is float32[] after float32[2]"});
  expect_error<FailedPrecondition>([&] { slope_of({x}, {constant({1., 2.})}); }, {"float64[2] after float32[2]"});
  expect_error<TypeError>([&] { slope_of({x}, {Tensor()}); }, {"output 0 holds no tensor"});
}

}  // namespace
}  // namespace capstan
