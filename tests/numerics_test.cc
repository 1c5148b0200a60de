// Numeric edges of the elementwise operations, among them those that users of TensorFlow reported.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/activation.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/ops/select.h"

namespace capstan {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Both gradients of a function of two tensors.
template <class Function>
std::vector<Tensor> gradients_of(Function function, const Tensor& x, const Tensor& y) {
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const auto gradients = tape.gradient(std::vector{function(x, y)}, std::vector{x, y});
  return {gradients[0].tensor(), gradients[1].tensor()};
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Numerics, Report70_WhereHandsOnNanOfTheOtherBranch) {
  const Tensor a = constant(10.f);
  GradientTape tape({.persistent = true});
  tape.watch(a);
  const Tensor y = where(a < 15, a, pow(10.f, exp(a)));
  EXPECT_TRUE(std::isnan(tape.gradient(y, a).tensor().item<float>()));  // as in TensorFlow: 0 * infinity
  const Tensor safe = where(a < 15, 1.f, a);                            // bound the argument first
  const Tensor z = where(a < 15, a, pow(10.f, exp(safe)));
  EXPECT_EQ(tape.gradient(z, a).tensor().item<float>(), 1.f);
}

TEST(Numerics, Report71_PowGradientAtZero) {
  const auto power = [](const Tensor& x, const Tensor& y) { return pow(x, y); };
  const auto squared = gradients_of(power, constant(0.f), constant(2.f));
  EXPECT_EQ(squared[0].item<float>(), 0.f);
  EXPECT_EQ(squared[1].item<float>(), 0.f);
  const auto root = gradients_of(power, constant(0.f), constant(0.5f));
  EXPECT_EQ(root[0].item<float>(), kInfinity);
  EXPECT_EQ(root[1].item<float>(), 0.f);
  const auto constant_one = gradients_of(power, constant(0.f), constant(0.f));
  EXPECT_EQ(constant_one[0].item<float>(), 0.f);  // TensorFlow: NaN
  EXPECT_EQ(constant_one[1].item<float>(), 0.f);
}

template <class T>
void check_minimum_by_minus_one() {
  constexpr T kMinimum = std::numeric_limits<T>::min();
  const std::vector<T> values{kMinimum, T(7), T(-7), kMinimum};
  const std::vector<T> divisors{T(-1), T(-1), T(-1), T(1)};
  const Tensor x = constant(values), y = constant(divisors);
  const std::vector<T> quotients{kMinimum, T(-7), T(7), kMinimum}, zeros(4);
  EXPECT_EQ(floordiv(x, y).template to_vector<T>(), quotients);
  EXPECT_EQ(truncatediv(x, y).template to_vector<T>(), quotients);
  EXPECT_EQ(find_op("Div")(x, y).template to_vector<T>(), quotients);
  EXPECT_EQ(floormod(x, y).template to_vector<T>(), zeros);
  EXPECT_EQ((x % y).template to_vector<T>(), zeros);
  if constexpr (sizeof(T) >= 4) {
    EXPECT_EQ(truncatemod(x, y).template to_vector<T>(), zeros);
  }
  EXPECT_EQ(floordiv(x, constant(T(-1))).template to_vector<T>()[0], kMinimum);
}

TEST(Numerics, Report78_MinimumByMinusOneNeverTraps) {
  check_minimum_by_minus_one<std::int8_t>();
  check_minimum_by_minus_one<std::int16_t>();
  check_minimum_by_minus_one<std::int32_t>();
  check_minimum_by_minus_one<std::int64_t>();
}

TEST(Numerics, Report79_IntegerDivisionByZeroIsAnError) {
  for (DType dtype : {DType::int32, DType::int64, DType::uint8}) {
    const Tensor x = constant({2, 3}, dtype), zero = constant({1, 0}, dtype);
    for (auto divide : {floordiv, floormod, truncatediv})
      EXPECT_THROW(divide(x, zero), InvalidArgument) << dtype_name(dtype);
    EXPECT_EQ(floordiv(zeros({0}, dtype), constant(0, dtype)).size(), 0);
  }
  EXPECT_EQ(message_of([] { floormod(constant({2}), constant({0})); }),
            "FloorMod: integer division by zero: 'y' of shape [1] has an element 0");
}

TEST(Numerics, Report91_BroadcastGradientsHaveTheInputsShapes) {
  const Tensor a = ones({3, 4}), row = ones({1, 4}), column = ones({3, 1});
  using Binary = Tensor (*)(Operand, Operand);
  for (Binary function : {Binary(add), Binary(subtract), Binary(multiply), Binary(divide), Binary(pow), Binary(minimum),
                          Binary(maximum), Binary(squared_difference), Binary(divide_no_nan)})
    for (const Tensor& b : {row, column}) {
      const auto gradients = gradients_of([&](const Tensor& x, const Tensor& y) { return function(x, y); }, a, b);
      EXPECT_EQ(gradients[0].shape(), a.shape());
      EXPECT_EQ(gradients[1].shape(), b.shape());
    }
  const auto summed = gradients_of([](const Tensor& x, const Tensor& y) { return x + y; }, a, column);
  EXPECT_EQ(summed[1].to_vector<float>(), (std::vector<float>{4, 4, 4}));
}

TEST(Numerics, T617_GradientsAtTiesAndEdges) {
  const auto tie =
      gradients_of([](const Tensor& x, const Tensor& y) { return maximum(x, y); }, constant(1.f), constant(1.f));
  EXPECT_EQ(tie[0].item<float>(), 1.f);
  EXPECT_EQ(tie[1].item<float>(), 0.f);
  const auto gradient_at = [](auto function, std::vector<float> at) {
    const Tensor x = constant(at);
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(function(x), x).tensor().template to_vector<float>();
  };
  EXPECT_EQ(gradient_at([](const Tensor& x) { return clip_by_value(x, 0, 1); }, {0, 1, 2}),
            (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(gradient_at([](const Tensor& x) { return abs(x); }, {0}), std::vector<float>{0});
  EXPECT_EQ(gradient_at([](const Tensor& x) { return relu(x); }, {0}), std::vector<float>{0});
  EXPECT_EQ(gradient_at([](const Tensor& x) { return sqrt(x); }, {0}), std::vector<float>{kInfinity});
  const auto log_at_zero =
      gradients_of([](const Tensor& x, const Tensor& y) { return xlogy(x, y); }, constant(0.f), constant(0.f));
  EXPECT_EQ(log_at_zero[0].item<float>(), 0.f);
  EXPECT_EQ(log_at_zero[1].item<float>(), 0.f);
  const auto by_zero =
      gradients_of([](const Tensor& x, const Tensor& y) { return divide_no_nan(x, y); }, constant(1.f), constant(0.f));
  EXPECT_EQ(by_zero[0].item<float>(), 0.f);
  EXPECT_EQ(by_zero[1].item<float>(), 0.f);
  const auto angle =
      gradients_of([](const Tensor& y, const Tensor& x) { return atan2(y, x); }, constant(0.f), constant(0.f));
  EXPECT_TRUE(std::isnan(angle[0].item<float>()) && std::isnan(angle[1].item<float>()));
}

TEST(Numerics, XlogyAtZeroHasTheSlopeOfTheLogarithm) {
  const auto slope =
      gradients_of([](const Tensor& x, const Tensor& y) { return xlogy(x, y); }, constant(0.f), constant(2.f));
  EXPECT_FLOAT_EQ(slope[0].item<float>(), std::log(2.f));
  EXPECT_EQ(slope[1].item<float>(), 0.f);
}

TEST(Numerics, SiluWithBroadcastBetaHasItsGradient) {
  const Tensor x = constant({{0.5f, -1.f, 2.f}, {1.f, 0.f, -2.f}}), beta = constant({1.5f, 0.5f, 1.f});
  const auto gradients = gradients_of([](const Tensor& at, const Tensor& b) { return silu(at, b); }, x, beta);
  EXPECT_EQ(gradients[1].shape(), beta.shape());
  for (int column = 0; column < 3; ++column) {
    double expected = 0;
    for (int row = 0; row < 2; ++row) {
      const double v = x.values<float>()[static_cast<std::size_t>(row * 3 + column)];
      const double s = 1 / (1 + std::exp(-v * beta.values<float>()[static_cast<std::size_t>(column)]));
      expected += v * v * s * (1 - s);
    }
    EXPECT_NEAR(gradients[1].values<float>()[static_cast<std::size_t>(column)], expected, 1e-6);
  }
}

TEST(Numerics, GeluHasBothForms) {
  const Tensor x = constant({-3.f, -1.f, 0.f, 1.f, 3.f});
  const float exact[] = {-0.00404969f, -0.15865525f, 0, 0.84134475f, 2.9959503f};
  const float approximate[] = {-0.00363739f, -0.158808f, 0, 0.841192f, 2.9963627f};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(gelu(x).values<float>()[i], exact[i], 1e-6f);
    EXPECT_NEAR(gelu(x, {.approximate = true}).values<float>()[i], approximate[i], 1e-6f);
  }
}

TEST(Numerics, CastStopsAtTheBoundsOfIntegers) {
  const Tensor x = constant({kNaN, kInfinity, -kInfinity, 1e10f, -1e10f, -1.5f, 300.7f});
  EXPECT_EQ(cast(x, DType::int32).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0, 2147483647, -2147483647 - 1, 2147483647, -2147483647 - 1, -1, 300}));
  EXPECT_EQ(cast(x, DType::uint8).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 255, 0, 255, 0, 0, 255}));
  EXPECT_EQ(cast(x, DType::int64).to_vector<std::int64_t>()[1], std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(cast(x, DType::uint64).to_vector<std::uint64_t>()[1], std::numeric_limits<std::uint64_t>::max());
}

TEST(Numerics, NegativeIntegerPowerIsAnError) {
  EXPECT_EQ(message_of([] { pow(constant({2}), constant({-1})); }),
            "Pow: integers to negative integer powers are not integers: 'y' of shape [1] has a negative element; use a "
            "floating type");
}

TEST(Numerics, OperatorsCompareAndCombine) {
  const Tensor x = constant({1, 2, 3});
  EXPECT_EQ((x == 2).to_vector<bool>(), (std::vector<bool>{false, true, false}));
  EXPECT_EQ((x != 2 && x < 3).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ((!(x > 1) || x >= 3).to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ((-x % 2).to_vector<int>(), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(logical_xor(x <= 2, x == 1).to_vector<bool>(), (std::vector<bool>{false, true, false}));
  EXPECT_EQ((constant({"a", "b"}) + "c").to_vector<std::string>(), (std::vector<std::string>{"ac", "bc"}));
  EXPECT_THROW(!constant(1.f), TypeError);
}

TEST(Numerics, ShortRowsBroadcastInManyDimensions) {
  // Each way through the loops: short and long rows, either argument repeated, more than one outer dimension.
  for (std::int64_t inner : {1, 3, 16, 17, 40}) {
    const Tensor a =
        reshape(cast(constant(std::vector<std::int64_t>(static_cast<std::size_t>(6 * inner), 2)), DType::float32),
                Shape{2, 3, inner});
    for (const Shape& shape : {Shape{2, 1, 1}, Shape{3, 1}, Shape{inner}, Shape{2, 1, inner}, Shape{1, 3, 1}}) {
      std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
      const Tensor b = constant(values, shape);
      const auto expected = broadcast_to(b, a.shape()).to_vector<float>();
      const auto left = (a - b).to_vector<float>(), right = (b - a).to_vector<float>();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(left[i], 2 - expected[i]) << inner << " " << shape.to_string();
        ASSERT_EQ(right[i], expected[i] - 2) << inner << " " << shape.to_string();
      }
    }
  }
}

}  // namespace
}  // namespace capstan
