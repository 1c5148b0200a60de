// Catalogue T, sections 6 and 23: derivatives of functions.
#include "capstan/autodiff/derivatives.h"

#include "autodiff/test_tape.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

const auto kSquare = [](Tensor x) { return x * x; };
const auto kProduct = [](Tensor x, Tensor y) { return x * y; };

TEST(Derivatives, T130_Vjp) {
  const auto [value, pull_back] = vjp(kSquare, scalar(3));
  EXPECT_EQ(value.item<float>(), 9);
  expect_value(pull_back(2.f), 12);
  expect_value(pull_back(scalar(2)), 12);
  expect_value(pull_back(), 6);
}

TEST(Derivatives, T131_OnceOrOften) {
  const auto often = make_vjp(kSquare)(scalar(3)).second;
  expect_value(often(2.f), 12);
  expect_value(often(2.f), 12);
  const auto once = make_vjp(kSquare, {.persistent = false})(scalar(3)).second;
  expect_value(once(2.f), 12);
  expect_error<FailedPrecondition>([&] { once(2.f); }, {"vjp", "persistent"});
}

TEST(Derivatives, VjpOfStructures) {
  struct Layer {
    Tensor kernel, bias;
  };
  const auto f = [](const Layer& layer, Tensor x) { return std::pair(layer.kernel * x, std::vector{layer.bias + x}); };
  const auto pull_back = vjp(f, Layer{scalar(2), scalar(3)}, scalar(5)).second;
  const auto [layer, dx] = pull_back(10.f, 100.f);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(layer)>, Layer>);
  EXPECT_EQ(layer.kernel.item<float>(), 50);
  EXPECT_EQ(layer.bias.item<float>(), 100);
  expect_value(dx, 120);
  expect_error<InvalidArgument>([&] { pull_back(1.f); }, {"vjp", "expected 2", "got 1"});
  expect_error<TypeError>([&] { pull_back(1.0, 1.0); }, {"float32", "float64"});
  expect_error<InvalidArgument>([&] { pull_back(constant({1.f, 2.f}), 1.f); }, {"[]", "[2]"});
}

TEST(Derivatives, T133_OneTensorForTwoParameters) {
  const auto check = [](const auto& x) {
    const auto [value, gradients] = value_and_gradient(kProduct, x, x);
    expect_value(value, 1);
    const auto [dx, dy] = gradients;
    expect_value(dx, 1);
    expect_value(dy, 1);
  };
  check(scalar(1));
  check(Variable(1.f));
  check(1.f);
  const auto first_of_first = [](std::vector<Tensor> x, std::vector<Tensor> y) { return x[0] * y[0]; };
  const std::vector<std::vector<float>> nested{{1}};
  const auto [dx, dy] = value_and_gradient(first_of_first, nested, nested).second;
  EXPECT_EQ(floats(dx.at(0)), std::vector{1.f});
  EXPECT_EQ(floats(dy.at(0)), std::vector{1.f});
}

TEST(Derivatives, T134_SeveralOutputsOrNone) {
  const auto [value, gradient] = value_and_gradient([](Tensor x) { return std::pair(x, 2 * x); }, 1.f);
  EXPECT_EQ(value.second.item<float>(), 2);
  expect_value(gradient, 3);
  expect_error<InvalidArgument>([] { value_and_gradient([](Tensor) { return std::tuple(); }, 1.f); },
                                {"value_and_gradient", "returns nothing"});
  expect_error<InvalidArgument>(
      [] { make_vjp([](Tensor) { return std::vector<Tensor>(); }, {.name = "my_function"})(1.f); },
      {"my_function", "returns nothing"});
}

TEST(Derivatives, GradientsOfGradients) {
  const auto cube = [](Tensor x) { return x * x * x; };
  expect_value(gradient_of(cube)(2.f), 12);
  expect_value(gradient_of(gradient_of(cube))(2.f), 12);
  expect_value(gradient_of(gradient_of(gradient_of(cube)))(2.f), 6);
  // A tape outside follows them too.
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  expect_value(tape.gradient(gradient_of(cube)(x).tensor(), x), 12);
}

TEST(Derivatives, UnusedArgumentsHaveNone) {
  const auto [dx, dy] = gradient_of([](Tensor x, Tensor) { return x; })(1.f, 2.f);
  expect_value(dx, 1);
  expect_none(dy);
}

TEST(Derivatives, IntegersAreHandedOn) {
  Tensor x = constant({1.f, 2.f});
  const auto [dx, di] = gradient_of([](Tensor t, Tensor i) { return gather(t, i) * 5; })(x, 1);
  expect_near(to_tensor(dx.slices()), {0, 5});
  expect_none(di);
}

TEST(Derivatives, Jvp) {
  const auto [value, tangent] = jvp(kSquare, 3.f, 2.f);
  EXPECT_EQ(value.item<float>(), 9);
  expect_value(tangent, 12);
  const auto [product, both] = jvp(kProduct, std::tuple(scalar(3), scalar(5)), std::tuple(1.f, 10.f));
  EXPECT_EQ(product.item<float>(), 15);
  expect_value(both, 35);
  Tensor x = scalar(2);
  expect_value(jvp(kProduct, std::tuple(x, x), std::tuple(1.f, 0.f)).second, 2);  // x is not y
  expect_value(jvp([](Tensor) { return scalar(1); }, 3.f, 1.f).second, 0);
  expect_error<InvalidArgument>([] { jvp(kProduct, std::tuple(1.f, 2.f), 1.f); }, {"2 primals", "1 tangents"});
}

TEST(Derivatives, JvpOfAGradient) {
  const auto cube = [](Tensor x) { return reduce_sum(x * x * x); };
  expect_near(
      jvp([&](Tensor x) { return gradient_of(cube)(x).tensor(); }, constant({1.f, 2.f}), constant({1.f, 1.f})).second,
      {6, 12});
}

TEST(Derivatives, T496_TwiceTheSameBits) {
  Tensor x = reshape(linspace(scalar(-1), scalar(1), 400), Shape{20, 20}), w = cos(x * 100);
  const auto loss = [&](Tensor t) { return reduce_mean(tanh(matmul(t, w))); };
  const auto once = floats(gradient_of(loss)(x)), again = floats(gradient_of(loss)(x));
  EXPECT_EQ(once, again);
}

TEST(Derivatives, T497_NothingStaysAlive) {
  const auto before = live_tensor_count();
  for (int i = 0; i < 2; ++i) {
    vjp(kSquare, 3.f).second(1.f);
    value_and_gradient(kProduct, 1.f, 2.f);
    gradient_of(gradient_of(kSquare))(3.f);
    jvp(kSquare, 3.f, 1.f);
    EXPECT_EQ(live_tensor_count(), before);
  }
}

TEST(Derivatives, ARefusedSeedUsesNothingUp) {
  const auto pull_back = make_vjp([](Tensor x) { return x * x; }, {.persistent = false})(constant({1.f, 2.f})).second;
  expect_error<InvalidArgument>([&] { pull_back(scalar(1)); }, {"[2]", "[]"});
  expect_near(pull_back(constant({1.f, 1.f})), {2, 4});
  expect_error<FailedPrecondition>([&] { pull_back(constant({1.f, 1.f})); }, {"vjp"});
}

}  // namespace
}  // namespace capstan
