// Catalogue T, section 12: functions with gradients of their own, as far as no traced function is needed.
#include "capstan/autodiff/custom_gradient.h"

#include "autodiff/test_tape.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

/// y = x, with dy * factor.
auto identity_with(float factor) {
  return custom_gradient([=](Tensor x) { return with_gradient(x, [=](Tensor dy) { return dy * factor; }); });
}

TEST(CustomGradient, Program3) {
  auto log1pexp = custom_gradient([](Tensor x) {
    Tensor e = exp(x);
    return with_gradient(log1p(e), [=](Tensor dy) { return dy * (1 - 1 / (1 + e)); });
  });
  Tensor x = constant({0.f, 100.f});
  EXPECT_NEAR(log1pexp(x).values<float>()[0], std::log(2.f), 1e-6);
  expect_near(slope(log1pexp, x), {0.5f, 1});
}

TEST(CustomGradient, T249_AFunctionThatReturnsItsArgument) {
  const auto thrice = identity_with(3);
  expect_value(slope([&](Tensor x) { return thrice(thrice(x)); }, scalar(3)), 9);
  expect_value(slope(identity_with(2), scalar(1)), 2);
  Tensor x = scalar(1);
  EXPECT_FALSE(thrice(x).is_same(x));
}

/// Swapped on purpose.
WithGradient<Tensor, std::function<std::pair<Tensor, Tensor>(Tensor)>> swapped_product(Tensor a, Tensor b) {
  return {a * b, [=](Tensor dy) { return std::pair(dy * a, dy * b); }};
}
struct Multiplier {
  auto product(Tensor a, Tensor b) const { return swapped_product(a, b); }
};

TEST(CustomGradient, T250_SwappedGradients) {
  Tensor a = scalar(3), b = scalar(5);
  const auto check = [&](auto&& product) {
    GradientTape tape;
    tape.watch({a, b});
    Tensor y = product(a, b);
    EXPECT_EQ(y.item<float>(), 15);
    auto [da, db] = tape.gradient(y, a, b);
    expect_value(da, 3);
    expect_value(db, 5);
  };
  check(custom_gradient(swapped_product));
  const Multiplier multiplier;
  check(custom_gradient([&](Tensor x, Tensor y) { return multiplier.product(x, y); }));
  // A member function; the object is handed on.
  const auto method = custom_gradient(&Multiplier::product);
  check([&](Tensor x, Tensor y) { return method(&multiplier, x, y); });
}

TEST(CustomGradient, T251_TheRuleCounts) {
  const auto f = custom_gradient([](Tensor x) { return with_gradient(x * x, [](Tensor dy) { return 4 * dy; }); });
  expect_value(slope(f, scalar(1)), 4);
}

TEST(CustomGradient, T253_OnlyTheRuleLeadsToTheInputs) {
  const auto f = custom_gradient([](Tensor x) { return with_gradient(x * x, [](Tensor dy) { return 5 * dy; }); });
  expect_value(slope(f, scalar(3)), 5);
}

TEST(CustomGradient, T254_CountsMustAgree) {
  const auto returns = [](std::size_t count) {
    return custom_gradient(
        [=](Tensor x) { return with_gradient(2 * x, [=](Tensor dy) { return std::vector<Gradient>(count, dy); }); },
        {.name = "my_function"});
  };
  expect_value(slope(returns(1), scalar(1)), 1);
  expect_error<InvalidArgument>([&] { slope(returns(0), scalar(1)); }, {"my_function", "expected 1", "got 0"});
  expect_error<InvalidArgument>([&] { slope(returns(3), scalar(1)); }, {"my_function", "expected 1", "got 3"});
}

TEST(CustomGradient, T254_TheTapeStaysUsable) {
  const auto before = live_tensor_count();
  {
    Tensor x = scalar(1);
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor bad =
        custom_gradient([](Tensor t) { return with_gradient(2 * t, [](Tensor) { return std::tuple<>(); }); })(x);
    Tensor good = x * x;
    tape.stop();
    EXPECT_THROW(tape.gradient(bad, x), InvalidArgument);
    expect_value(tape.gradient(good, x), 2);
  }
  EXPECT_EQ(live_tensor_count(), before);
}

TEST(CustomGradient, T255_NothingForAnInput) {
  Tensor a = scalar(2), b = scalar(3);
  GradientTape tape;
  tape.watch({a, b});
  Tensor y = custom_gradient([](Tensor u, Tensor v) {
    return with_gradient(u * v, [=](Tensor dy) { return std::tuple(dy * v, Gradient()); });
  })(a, b);
  auto [da, db] = tape.gradient(y, a, b);
  expect_value(da, 3);
  expect_none(db);
}

TEST(CustomGradient, T256_ErrorsOfTheRulePass) {
  struct Mine {};
  const auto f = custom_gradient([](Tensor x) { return with_gradient(x, [](Tensor) -> Tensor { throw Mine(); }); });
  EXPECT_THROW(slope(f, scalar(1)), Mine);
}

TEST(CustomGradient, T257_AGradientInTheBody) {
  const auto f = custom_gradient([](Tensor x) {
    return with_gradient(slope([](Tensor t) { return t * t; }, x).tensor(), [](Tensor dy) { return dy; });
  });
  EXPECT_EQ(f(scalar(1)).item<float>(), 2);
  expect_value(slope(f, scalar(1)), 1);
}

TEST(CustomGradient, T259_NumbersBecomeConstants) {
  const auto f = custom_gradient(
      [](Tensor x, Tensor y) { return with_gradient(x * y, [=](Tensor dy) { return std::pair(dy * y, dy * x); }); });
  EXPECT_EQ(f(3.f, std::vector{1.f, 2.f}).to_vector<float>(), (std::vector{3.f, 6.f}));
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  expect_value(tape.gradient(f(x, 5.f), x), 5);
}

struct Pair {
  Tensor first, second;
};

TEST(CustomGradient, T260_Structures) {
  const auto f = custom_gradient([](std::tuple<std::tuple<>, std::tuple<>>, Pair pair, std::vector<Tensor> none,
                                    std::tuple<Tensor, std::tuple<>> last) {
    EXPECT_TRUE(none.empty());
    const Tensor z = std::get<0>(last);
    return with_gradient(
        std::tuple(std::tuple(), Pair{pair.first * 2, pair.second * 3}, std::vector{z * 4}),
        [](std::span<const Gradient> dy) {
          EXPECT_EQ(dy.size(), 3u);
          return std::tuple(dy[0].tensor() * 20, std::vector{dy[1].tensor() * 30, dy[2].tensor() * 40});
        });
  });
  Tensor a = scalar(1), b = scalar(2), c = scalar(3);
  GradientTape tape;
  tape.watch({a, b, c});
  const auto out =
      f(std::tuple(std::tuple(), std::tuple()), Pair{a, b}, std::vector<Tensor>(), std::tuple(c, std::tuple()));
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(out)>, std::tuple<std::tuple<>, Pair, std::vector<Tensor>>>);
  const Pair pair = std::get<1>(out);
  EXPECT_EQ(pair.second.item<float>(), 6);
  auto [da, db, dc] = tape.gradient(std::vector{pair.first, pair.second, std::get<2>(out).at(0)}, a, b, c);
  expect_value(da, 20);
  expect_value(db, 30);
  expect_value(dc, 40);
}

TEST(CustomGradient, T260_NothingInNothingOut) {
  const auto f = custom_gradient([] { return with_gradient(std::tuple(), [] {}); });
  static_assert(std::is_same_v<decltype(f()), std::tuple<>>);
  f();
}

TEST(CustomGradient, T260_FormsOfRules) {
  Tensor x = scalar(3);
  const auto check = [&](auto rule, float expected) {
    GradientTape tape;
    tape.watch(x);
    const auto f = custom_gradient([&](Tensor t) { return with_gradient(std::vector{t * 1, t * 2}, rule); });
    expect_value(tape.gradient(f(x)[0], x), expected);
  };
  check([](Tensor a, Tensor b) { return a * 5 + b; }, 5);
  check([](const Gradient& a, const Gradient&) { return a; }, 1);
  check([](std::span<const Gradient> dy) { return dy[0]; }, 1);
  check([](std::vector<Tensor> dy) { return dy[0] * 7 + dy[1]; }, 7);
  check([](const std::vector<Gradient>& dy) { return std::vector{dy[0]}; }, 1);
  check([](Tensor a, Tensor) { return std::map<std::string, Tensor>{{"x", a * 3}}; }, 3);
  expect_error<InvalidArgument>([&] { check([](Tensor a) { return a; }, 1); }, {"takes 1", "2 outputs"});
}

TEST(CustomGradient, OutputsWithoutGradients) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  const auto [y, index] = custom_gradient([](Tensor t) {
    return with_gradient(std::pair(t * t, constant(7)), [](Tensor dy, Tensor of_index) {
      EXPECT_EQ(of_index.item<int>(), 0);
      return dy * 10;
    });
  })(x);
  EXPECT_EQ(index.item<int>(), 7);
  expect_value(tape.gradient(y, x), 10);
}

TEST(CustomGradient, T263_VariablesNeedARuleThatTakesThem) {
  Variable w(2.f, {.name = "weight"});
  const auto f =
      custom_gradient([&](Tensor x) { return with_gradient(x * w, [](Tensor dy) { return dy; }); }, {.name = "scale"});
  expect_error<TypeError>([&] { f(scalar(3)); }, {"scale", "variables", "weight"});
}

using Variables = std::vector<Variable>;

TEST(CustomGradient, T265_AKernelInside) {
  Variable kernel(ones({2, 4}));
  Tensor x = ones({3, 2});
  GradientTape tape;
  tape.watch(x);
  Tensor y = custom_gradient([&](Tensor t) {
    return with_gradient(matmul(t, kernel), [](Tensor, const Variables& variables) {
      EXPECT_EQ(variables.size(), 1u);
      return std::pair(ones({3, 2}), std::vector{ones({2, 4})});
    });
  })(x);
  const Gradient dx = tape.gradient(y, std::vector{x, kernel.handle()})[0];
  EXPECT_EQ(reduce_sum(dx).item<float>(), 6);
}

TEST(CustomGradient, T265_TheKernelsGradient) {
  Variable kernel(ones({2, 4}));
  GradientTape tape;
  Tensor y = custom_gradient([&](Tensor x) {
    return with_gradient(matmul(x, kernel), [](Tensor, const Variables&) {
      return std::pair(ones({3, 2}), std::vector{ones({2, 4})});
    });
  })(ones({3, 2}));
  EXPECT_EQ(reduce_sum(tape.gradient(y, kernel)).item<float>(), 8);
}

TEST(CustomGradient, T266_AVariableAsInput) {
  Variable input(6.f), captured(3.f);
  const auto f = custom_gradient([&](const Variable& x) {
    return with_gradient(x * captured, [](Tensor dy, const Variables& variables) {
      EXPECT_EQ(variables.size(), 1u);
      return std::pair(4 * variables.at(0) * dy, std::vector<Gradient>{Gradient()});
    });
  });
  GradientTape tape({.persistent = true});
  Tensor y = f(input);
  tape.stop();
  EXPECT_EQ(y.item<float>(), 18);
  expect_value(tape.gradient(y, input), 12);
  expect_none(tape.gradient(y, captured));
}

TEST(CustomGradient, T266_VariablesInStructures) {
  Variable a(2.f), b(5.f);
  GradientTape tape;
  Tensor y = custom_gradient([](std::vector<Variable> list) {
    return with_gradient(list[0] * list[1], [](Tensor dy) { return std::vector{dy * 10, dy * 20}; });
  })(std::vector{a, b});
  const auto gradients = tape.gradient(y, std::vector{a, b});
  expect_value(gradients[0], 10);
  expect_value(gradients[1], 20);
}

TEST(CustomGradient, T267_OnlyVariables) {
  Variable a(1.f), b(2.f), c(3.f);
  Tensor outside = scalar(1);
  GradientTape tape;
  tape.watch(outside);
  Tensor loss = custom_gradient([&] {
    return with_gradient(a * b * c * outside, [](Tensor dy, const Variables& variables) {
      std::vector<Tensor> gradients;
      for (const Variable& variable : variables) gradients.push_back(dy * variable * 10);
      return std::pair(std::tuple(), gradients);
    });
  })();
  const auto gradients = tape.gradient(loss, std::vector{a.handle(), b.handle(), c.handle(), outside});
  expect_value(gradients[0], 10);
  expect_value(gradients[1], 20);
  expect_value(gradients[2], 30);
  expect_none(gradients[3]);
}

TEST(CustomGradient, T268_OnlyTrainableVariables) {
  Variable fixed(2.f, {.trainable = false});
  const auto f = custom_gradient([&](Tensor x) { return with_gradient(x * fixed, [](Tensor dy) { return dy * 7; }); });
  expect_value(slope(f, scalar(1)), 7);
}

TEST(CustomGradient, T271_TheRuleUsesTheBodysTensor) {
  const auto f = custom_gradient([](Tensor x) {
    Tensor e = exp(x);
    return with_gradient(e, [=](Tensor dy) { return dy * e; });
  });
  expect_value(slope(f, scalar(0)), 1);
  expect_value(slope([&](Tensor x) { return slope(f, x).tensor(); }, scalar(0)), 1);
  expect_value(
      slope([&](Tensor x) { return slope([&](Tensor t) { return slope(f, t).tensor(); }, x).tensor(); }, scalar(0)), 1);
}

TEST(CustomGradient, T272_SecondOrderOfOnesOwn) {
  const auto g1 =
      custom_gradient([](Tensor) { return with_gradient(scalar(-1.1f), [](Tensor dy) { return dy * -2.1f; }); });
  const auto f =
      custom_gradient([&](Tensor x) { return with_gradient(x + 10, [=](Tensor dz) { return dz * g1(x); }); });
  const auto d = [&](Tensor c) { return pow(f(c), 4); };
  expect_near(slope(d, scalar(1)), {-5856.4f}, 1e-5);
  expect_near(slope([&](Tensor c) { return slope(d, c).tensor(); }, scalar(1)), {-9423.48f}, 1e-5);
}

TEST(CustomGradient, T273_TheRuleOfTheRule) {
  const auto inner = custom_gradient([](Tensor, Tensor) {
    return with_gradient(scalar(2.1f), [](Tensor) { return std::pair(scalar(2.2f), scalar(3.1f)); });
  });
  const auto outer =
      custom_gradient([&](Tensor x) { return with_gradient(2 * x, [=](Tensor dz) { return inner(x, dz); }); });
  Tensor x = scalar(1), seed = scalar(1);
  GradientTape second;
  second.watch({x, seed});
  GradientTape first;
  first.watch(x);
  const Gradient slope = first.gradient(outer(x), x, {.output_gradients = {seed}});
  expect_value(slope, 2.1f);
  auto [by_x, by_seed] = second.gradient(slope.tensor(), x, seed);
  expect_value(by_x, 2.2f);
  expect_value(by_seed, 3.1f);
}

TEST(CustomGradient, T274_TheRuleOfTheSeedAlone) {
  const auto f = custom_gradient([](Tensor x) {
    return with_gradient(
        x * x, custom_gradient([](Tensor dz) { return with_gradient(dz * 2, [](Tensor dy) { return dy; }); }));
  });
  Tensor x = scalar(3);
  GradientTape second;
  second.watch(x);
  const Gradient first = slope(f, x);
  expect_value(first, 2);
  expect_none(second.gradient(first.tensor(), x));
}

TEST(CustomGradient, T211_AnotherVariableEachTime) {
  Tensor x = scalar(2), b1 = scalar(1), b2 = scalar(1);
  const auto f = custom_gradient([](Tensor t, Tensor b) {
    return with_gradient(t * t + b, [=](Tensor dy) { return std::pair(dy * 2 * t, dy); });
  });
  GradientTape tape;
  tape.watch({x, b1});
  auto [dx, db] = tape.gradient(f(f(x, b1), b2), x, b1);
  expect_value(dx, 40);
  expect_value(db, 10);
}

TEST(CustomGradient, T607_ShapeAndTypeMustFit) {
  const auto returns = [](Tensor gradient) {
    return custom_gradient([=](Tensor x) { return with_gradient(2 * x, [=](Tensor) { return gradient; }); },
                           {.name = "my_function"});
  };
  expect_error<InvalidArgument>(
      [&] {
        slope(returns(constant({1.f, 2.f, 3.f})), scalar(1));
      },
      {"my_function", "input 0", "[]", "[3]"});
  expect_error<TypeError>([&] { slope(returns(constant(1.0)), scalar(1)); },
                          {"my_function", "input 0", "float32", "float64"});
}

TEST(CustomGradient, T607_ShapesOfVariablesAndSlicesMustFit) {
  Variable table(ones({4, 2}));
  const auto check = [&](Gradient gradient) {
    GradientTape tape;
    Tensor y = custom_gradient([&] {
      return with_gradient(reduce_sum(table),
                           [=](Tensor, const Variables&) { return std::pair(std::tuple(), std::vector{gradient}); });
    })();
    return tape.gradient(y, table);
  };
  const auto rows = [](Tensor values) { return IndexedSlices{values, constant({1}), shape_tensor({4, 2})}; };
  EXPECT_TRUE(check(rows(ones({1, 2}))).is_slices());
  expect_error<InvalidArgument>([&] { check(rows(ones({1, 3}))); }, {"variable 0", "[4,2]", "[1,3]"});
  expect_error<InvalidArgument>([&] { check(ones({2, 4})); }, {"variable 0", "[4,2]", "[2,4]"});
}

TEST(CustomGradient, T616_VariablesInTheOrderOfTheirFirstRead) {
  Variable made_first(1.f, {.name = "z"}), made_second(2.f, {.name = "a"});
  std::vector<std::string> names;
  GradientTape tape;
  Tensor y = custom_gradient([&] {
    const Tensor second = made_second.value(), first = made_first.value();
    return with_gradient(second * first * made_second, [&](Tensor dy, const Variables& variables) {
      for (const Variable& variable : variables) names.push_back(variable.name());
      return std::pair(std::tuple(), std::vector{dy, dy});
    });
  })();
  tape.gradient(y, made_first);
  EXPECT_EQ(names, (std::vector<std::string>{"a:0", "z:0"}));
}

TEST(CustomGradient, T616_ReadsWithoutATapeAndInsideOthers) {
  Variable w(2.f);
  int given = 0;
  const auto inner = custom_gradient([&](Tensor x) {
    return with_gradient(x * w, [&](Tensor dy, const Variables& variables) {
      return std::pair(dy * 2, std::vector{dy * static_cast<float>(variables.size())});
    });
  });
  const auto outer = custom_gradient([&](Tensor x) {
    return with_gradient(inner(x), [&](Tensor dy, const Variables& variables) {
      given = static_cast<int>(variables.size());
      return std::pair(dy * 3, std::vector{dy * 30});
    });
  });
  EXPECT_EQ(outer(scalar(3)).item<float>(), 6);  // no tape
  GradientTape tape;
  expect_value(tape.gradient(outer(scalar(3)), w), 30);
  EXPECT_EQ(given, 1);
}

TEST(CustomGradient, PublicReport17_TwoInputsTwoOutputsTwoVariables) {
  Variable a(2.f), b(3.f);
  const auto f = custom_gradient([&](Tensor x1, Tensor x2) {
    const Tensor e = x1 * x2;
    const Tensor first = e + a, second = x1 * b;  // one after the other: the order of arguments is the compiler's
    return with_gradient(std::pair(first, second), [=](Tensor d1, Tensor d2, const Variables&) {
      return std::pair(std::pair(d1 * 1, d2 * 2), std::vector{d1 * 3, d2 * 4});
    });
  });
  Tensor x1 = scalar(1), x2 = scalar(1);
  GradientTape tape;
  tape.watch({x1, x2});
  const auto [y1, y2] = f(x1, x2);
  const auto gradients = tape.gradient(std::vector{y1, y2}, std::vector{x1, x2, a.handle(), b.handle()});
  for (int i = 0; i < 4; ++i) expect_value(gradients[static_cast<std::size_t>(i)], static_cast<float>(i + 1));
}

TEST(CustomGradient, PublicReport18_VariablesReachTheRule) {
  Variable w(3.f);
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  Tensor y = custom_gradient([&](Tensor t) {
    return with_gradient(t * w, [=](Tensor dy, const Variables& variables) {
      return std::pair(dy * variables.at(0), std::vector{dy * t});
    });
  })(x);
  const auto gradients = tape.gradient(y, std::vector{x, w.handle()});
  expect_value(gradients[0], 3);
  expect_value(gradients[1], 2);
}

TEST(CustomGradient, PublicReport19_SecondDerivative) {
  const auto f = custom_gradient([](Tensor x) { return with_gradient(x * x, [=](Tensor dy) { return 2 * x * dy; }); });
  expect_value(slope([&](Tensor x) { return slope(f, x).tensor(); }, scalar(3)), 2);
}

TEST(CustomGradient, ForwardMode) {
  const auto f = custom_gradient([](Tensor x) { return with_gradient(x * x, [=](Tensor dy) { return 5 * x * dy; }); });
  Tensor x = scalar(3);
  ForwardAccumulator forward(x, scalar(2));
  Tensor y = f(x);
  expect_value(forward.jvp(y), 30);
  // Forward over reverse.
  expect_value(forward.jvp(slope(f, x)), 10);
}

TEST(CustomGradient, Jacobians) {
  const auto f = custom_gradient([](Tensor x) { return with_gradient(x * x, [=](Tensor dy) { return 5 * x * dy; }); });
  Tensor x = constant({1.f, 2.f});
  expect_near(floats(jacobian(f, x)), {5, 0, 0, 10});
  expect_near(floats(jacobian(f, x, JacobianMode::forward)), {5, 0, 0, 10});
}

TEST(GradPassThrough, T283_AssignmentsPass) {
  Variable v(1.f);
  Tensor z = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(z);
  Tensor y = grad_pass_through([&](Tensor t) { return v.assign(t).value(); })(z * z);
  EXPECT_EQ(v.value().item<float>(), 9);
  EXPECT_EQ(y.item<float>(), 9);
  tape.stop();
  expect_value(tape.gradient(y, z), 6);
  expect_none(tape.gradient(y, v));
}

TEST(GradPassThrough, T283_MovingAverage) {
  Variable average(1.f);
  const auto update = [&](Tensor x) { return average.assign(average * 0.9f + x * 0.1f).value(); };
  expect_value(slope(grad_pass_through(update), scalar(3)), 1);
}

TEST(GradPassThrough, CountsMustAgree) {
  const auto f = grad_pass_through([](Tensor x) { return std::pair(x, x); });
  expect_error<InvalidArgument>([&] { slope([&](Tensor x) { return f(x).first; }, scalar(1)); },
                                {"grad_pass_through", "expected 1", "got 2"});
}

TEST(StopGradient, T199_NothingFlows) {
  Tensor x = ones({100, 32});
  expect_none(slope([](Tensor t) { return stop_gradient(t); }, x));
  EXPECT_EQ(stop_gradient(x).shape(), (Shape{100, 32}));
  ForwardAccumulator forward(x, x);
  expect_none(forward.jvp(stop_gradient(x)));
}

}  // namespace
}  // namespace capstan
