#include "capstan/autodiff/check_gradients.h"

#include <complex>

#include "autodiff/test_tape.h"

namespace capstan {
namespace {

TEST(NumericGradient, CentralDifferences) {
  const Tensor gradient = numeric_gradient([](Tensor x) { return x * x * x; }, constant({1.f, 2.f}));
  EXPECT_EQ(gradient.dtype(), DType::float64);
  EXPECT_NEAR(gradient.values<double>()[0], 3, 1e-8);
  EXPECT_NEAR(gradient.values<double>()[1], 12, 1e-8);
  expect_error<TypeError>([] { numeric_gradient([](Tensor x) { return x; }, constant(1)); }, {"floating", "int32"});
}

TEST(NumericGradient, InTheFunctionsOwnType) {
  Tensor w = constant({2.f, 3.f});
  const auto f = [&](Tensor x) { return x * w; };
  EXPECT_THROW(numeric_gradient(f, constant({1.f, 1.f})), TypeError);
  const Tensor gradient = numeric_gradient(f, constant({1.f, 1.f}), {.in_double = false});
  EXPECT_NEAR(gradient.values<double>()[1], 3, 1e-3);
}

TEST(NumericGradient, Complex) {
  // d/dz of Re(z^2): TensorFlow's gradient is the conjugate, 2 conj(z).
  const auto z = constant(std::complex<float>(1, 2));
  const auto numeric = numeric_gradient([](Tensor t) { return t * t; }, z).item<std::complex<double>>();
  EXPECT_NEAR(numeric.real(), 2, 1e-8);
  EXPECT_NEAR(numeric.imag(), -4, 1e-8);
}

TEST(CheckGradients, RightOnes) {
  const auto f = [](Tensor x, Tensor w) { return std::pair(tanh(matmul(x, w)), reduce_sum(x)); };
  const auto check =
      check_gradients(f, std::tuple(constant({{1.f, 2.f}}), constant({{.1f, .2f, .3f}, {.4f, .5f, .6f}})));
  EXPECT_TRUE(check) << check;
  EXPECT_EQ(check.elements, 8u);
  EXPECT_LT(check.difference, 1e-8);
  EXPECT_TRUE(check.remarks.empty()) << check;
}

TEST(CheckGradients, ComplexOnes) {
  const auto f = [](Tensor z, Tensor w) { return std::pair(z * conj(w) * w, abs(z)); };
  const auto check = check_gradients(f, std::tuple(constant({std::complex<float>(1, 2), std::complex<float>(-1, .5f)}),
                                                   constant(std::complex<float>(.3f, .7f))));
  EXPECT_TRUE(check) << check;
}

/// x * w, with a gradient by w that is wrong in one element.
const auto wrong = custom_gradient([](Tensor x, Tensor w) {
  return with_gradient(x * w, [=](Tensor dy) {
    const Tensor mistake = cast(constant({{1., 1., 1.}, {1., 1., 1.5}}), w.dtype());
    return std::pair(dy * w, dy * x * mistake);
  });
});

TEST(CheckGradients, NamesTheWorstElement) {
  Tensor x = ones({2, 3}) * 2, w = ones({2, 3});
  const auto check = check_gradients(wrong, std::tuple(x, w));
  EXPECT_FALSE(check);
  EXPECT_EQ(check.argument, 1u);
  EXPECT_EQ(check.index, (std::vector<std::int64_t>{1, 2}));
  EXPECT_NEAR(check.analytic.real() / check.numeric.real(), 1.5, 1e-6);
  EXPECT_NEAR(check.difference, std::abs(check.analytic - check.numeric), 1e-12);
  const std::string text = check.to_string();
  for (const char* part : {"DIFFERS", "argument 1", "[1,2]", "gradient ", "numeric ", "difference "})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CheckGradients, MissingOnes) {
  const auto check = check_gradients([](Tensor x) { return stop_gradient(x * x); }, constant({1.f, 0.f}));
  EXPECT_FALSE(check);
  EXPECT_EQ(check.index, (std::vector<std::int64_t>{0}));
  ASSERT_FALSE(check.remarks.empty());
  EXPECT_NE(check.remarks[0].find("StopGradient"), std::string::npos) << check;
  EXPECT_TRUE(check_gradients([](Tensor x) { return stop_gradient(ones_like(x)); }, constant({1.f, 0.f})));
}

TEST(CheckGradients, ForwardModeIsCompared) {
  const auto broken =
      custom_gradient([](Tensor x) { return with_gradient(2 * x, [](Tensor dy) { return stop_gradient(2 * dy); }); });
  const auto check = check_gradients(broken, 1.f);
  EXPECT_FALSE(check);
  EXPECT_LT(check.difference, 1e-8);
  EXPECT_NE(check.to_string().find("forward mode gives 0"), std::string::npos) << check;
  EXPECT_TRUE(check_gradients(broken, 1.f, {.forward = false}));
}

TEST(CheckGradients, WithoutForwardMode) {
  const auto check = check_gradients(recompute_grad([](Tensor x) { return sin(x); }), 1.f);
  EXPECT_TRUE(check);
  ASSERT_EQ(check.remarks.size(), 1u);
  EXPECT_NE(check.remarks[0].find("was not compared"), std::string::npos);
}

TEST(CheckGradients, FunctionsOfOneType) {
  Tensor w = constant({2.f, 3.f});
  const auto check = check_gradients([&](Tensor x) { return sin(x * w); }, constant({.5f, 1.f}), {.in_double = false});
  EXPECT_TRUE(check) << check;
}

TEST(CheckGradients, NaNIsNoAgreement) {
  const auto check = check_gradients([](Tensor x) { return sqrt(reduce_sum(x * x)); }, constant({0.f, 0.f}));
  EXPECT_FALSE(check);
}

TEST(CheckGradients, StepsMustBeSteps) {
  const auto f = [](Tensor x) { return x * x; };
  const Tensor x = constant({1.f, 2.f});
  expect_error<InvalidArgument>([&] { numeric_gradient(f, x, {.step = -1}); }, {"step", "-1"});
  expect_error<InvalidArgument>([&] { numeric_gradient(f, x, {.step = std::nan("")}); }, {"step", "nan"});
  expect_error<InvalidArgument>([&] { check_gradients(f, x, {.step = INFINITY}); }, {"step", "inf"});
}

}  // namespace
}  // namespace capstan
