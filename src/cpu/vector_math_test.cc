// The SIMD functions against the C library in a wider type: a dense sweep over all bit patterns, and special values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "cpu/vector_functions.h"

namespace capstan::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Distance from the exact value in units of the last place of the result.
template <class T>
double units_apart(T got, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : 1e9;
  int exponent;
  std::frexp(rounded, &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const long double unit = std::ldexp(1.0L, std::max(exponent - std::numeric_limits<T>::digits, lowest));
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

std::vector<float> float_sweep() {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (float x = -110; x < 110; x += 0.00137f) values.push_back(x);
  for (float x : {0.f, -0.f, kInfinity, -kInfinity, kNaN, 88.72283f, 88.72284f, -87.33655f, -103.97f, -103.98f, 1e-45f,
                  1.1754942e-38f, 1.1754944e-38f, 3.4028235e38f, -1.f, -0.99999994f, 1.f, 9.02f, 3.95f})
    values.push_back(x);
  return values;
}

template <class T>
void expect_near(UnaryRow<T> function, const std::function<long double(T)>& exact, const std::vector<T>& x,
                 double limit) {
  std::vector<T> got(x.size());
  function(x.data(), got.data(), static_cast<std::int64_t>(x.size()));
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (const double units = units_apart(got[i], exact(x[i])); units > worst) {
      worst = units;
      at = i;
    }
  EXPECT_LE(worst, limit) << "at " << x[at] << ": got " << got[at] << ", exact " << static_cast<double>(exact(x[at]));
  ::testing::Test::RecordProperty("worst", std::to_string(worst));
}

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

struct FloatCase {
  const char* name;
  UnaryRow<float> VectorMath<float>::*function;
  double (*exact)(double);
  double limit;
};
constexpr FloatCase kFloatCases[] = {
    {"exp", &VectorMath<float>::exp, std::exp, 2},      {"expm1", &VectorMath<float>::expm1, std::expm1, 2},
    {"log", &VectorMath<float>::log, std::log, 2},      {"log1p", &VectorMath<float>::log1p, std::log1p, 2.5},
    {"tanh", &VectorMath<float>::tanh, std::tanh, 4.7}, {"sigmoid", &VectorMath<float>::sigmoid, sigmoid, 3},
    {"sin", &VectorMath<float>::sin, std::sin, 2},      {"cos", &VectorMath<float>::cos, std::cos, 2},
    {"erf", &VectorMath<float>::erf, std::erf, 4.7},
};

TEST(VectorMath, FloatFunctionsAreWithinAFewUnits) {
  const auto x = float_sweep();
  for (InstructionSet set : {InstructionSet::base, InstructionSet::avx2, InstructionSet::avx512}) {
    if (set > best_instruction_set()) continue;
    // Without fused multiplication and addition there are twice as many roundings.
    const double more = set == InstructionSet::base ? 1.6 : 1;
    for (const FloatCase& c : kFloatCases) {
      SCOPED_TRACE(std::string(c.name) + ", instruction set " + std::to_string(static_cast<int>(set)));
      expect_near<float>(
          vector_math_for<float>(set).*c.function, [&](float v) -> long double { return c.exact(v); }, x,
          more* c.limit);
    }
  }
}

TEST(VectorMath, DoubleFunctionsAreWithinAFewUnits) {
  std::vector<double> x;
  for (std::uint64_t i = 0; i < 200'000; ++i) x.push_back(std::bit_cast<double>(i * 0x0000'53e2'9f1b'7a35u));
  for (double v = -750; v < 750; v += 0.0137) x.push_back(v);
  for (double v :
       {0., -0., 1. / 0., -1. / 0., 709.782712893384, 709.7827128933841, -745.13, -745.14, 5e-324, 2.2e-308, -1., 1.})
    x.push_back(v);
  const auto& math = vector_math<double>();
  expect_near<double>(
      math.exp, [](double v) { return std::exp(static_cast<long double>(v)); }, x, 2);
  expect_near<double>(
      math.expm1, [](double v) { return std::expm1(static_cast<long double>(v)); }, x, 2);
  expect_near<double>(
      math.log, [](double v) { return std::log(static_cast<long double>(v)); }, x, 2);
  expect_near<double>(
      math.log1p, [](double v) { return std::log1p(static_cast<long double>(v)); }, x, 2.5);
  expect_near<double>(
      math.tanh, [](double v) { return std::tanh(static_cast<long double>(v)); }, x, 3);
}

template <class T>
bool same_bits(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

TEST(VectorMath, SpecialValuesAreExact) {
  const auto& math = vector_math<float>();
  const auto at = [](UnaryRow<float> function, float x) {
    float y;
    function(&x, &y, 1);
    return y;
  };
  const auto expect = [&](UnaryRow<float> function, float x, float y) {
    EXPECT_TRUE(same_bits(at(function, x), y)) << "f(" << x << ") = " << at(function, x) << ", expected " << y;
  };
  expect(math.exp, -kInfinity, 0.f);
  expect(math.exp, kInfinity, kInfinity);
  expect(math.exp, -0.f, 1.f);
  expect(math.exp, 89.f, kInfinity);
  expect(math.exp, kNaN, kNaN);
  expect(math.expm1, -0.f, -0.f);
  expect(math.expm1, -kInfinity, -1.f);
  expect(math.expm1, kInfinity, kInfinity);
  expect(math.log, 0.f, -kInfinity);
  expect(math.log, -0.f, -kInfinity);
  expect(math.log, -1.f, kNaN);
  expect(math.log, -kInfinity, kNaN);
  expect(math.log, kInfinity, kInfinity);
  expect(math.log, 1.f, 0.f);
  expect(math.log1p, -0.f, -0.f);
  expect(math.log1p, -1.f, -kInfinity);
  expect(math.log1p, kInfinity, kInfinity);
  expect(math.log1p, -2.f, kNaN);
  for (auto function : {math.tanh, math.erf}) {
    expect(function, -0.f, -0.f);
    expect(function, kInfinity, 1.f);
    expect(function, -kInfinity, -1.f);
    expect(function, kNaN, kNaN);
  }
  expect(math.sigmoid, -kInfinity, 0.f);
  expect(math.sigmoid, kInfinity, 1.f);
  expect(math.sigmoid, 0.f, 0.5f);
  expect(math.sin, -0.f, -0.f);
  expect(math.sin, kInfinity, kNaN);
  expect(math.cos, 0.f, 1.f);
  expect(math.cos, kNaN, kNaN);
}

TEST(VectorMath, AnElementDoesNotDependOnItsPlace) {
  std::vector<float> x(67);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -3 + 0.1f * static_cast<float>(i);
  const auto& math = vector_math<float>();
  for (auto function : {math.exp, math.log1p, math.tanh, math.sin}) {
    std::vector<float> all(x.size());
    function(x.data(), all.data(), 67);
    for (std::int64_t begin : {0, 1, 5, 60})
      for (std::int64_t n : {1, 3, 4, 7}) {
        std::vector<float> part(x.begin() + begin, x.begin() + begin + n);
        function(part.data(), part.data(), n);  // in place
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_TRUE(same_bits(part[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(begin + i)]));
      }
    std::vector<float> in_place = x;
    function(in_place.data(), in_place.data(), 67);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(same_bits(in_place[i], all[i]));
  }
}

TEST(VectorArithmetic, EqualsTheScalarOperations) {
  const float specials[] = {0, -0.f, 1, -1, 2.5f, kInfinity, -kInfinity, kNaN, 1e-40f, 3e38f};
  std::vector<float> x, y;
  for (float a : specials)
    for (float b : specials) {
      x.push_back(a);
      y.push_back(b);
    }
  const auto n = static_cast<std::int64_t>(x.size());
  const auto& table = vector_arithmetic<float>();
  struct Case {
    const char* name;
    BinaryRow<float> row;
    float (*exact)(float, float);
  };
  for (const Case& c : {Case{"add", table.add, [](float a, float b) { return a + b; }},
                        Case{"subtract", table.subtract, [](float a, float b) { return a - b; }},
                        Case{"multiply", table.multiply, [](float a, float b) { return a * b; }},
                        Case{"divide", table.divide, [](float a, float b) { return a / b; }},
                        Case{"maximum", table.maximum, [](float a, float b) { return std::isnan(a) || a > b ? a : b; }},
                        Case{"minimum", table.minimum, [](float a, float b) { return std::isnan(a) || a < b ? a : b; }},
                        Case{"relu_grad", table.relu_grad, [](float dy, float a) { return a > 0 ? dy : 0.f; }}}) {
    SCOPED_TRACE(c.name);
    std::vector<float> out(x.size());
    c.row.vv(x.data(), y.data(), out.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_TRUE(same_bits(out[i], c.exact(x[i], y[i]))) << x[i] << ", " << y[i];
    c.row.vs(x.data(), 2.5f, out.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(same_bits(out[i], c.exact(x[i], 2.5f))) << x[i];
    c.row.sv(2.5f, y.data(), out.data(), n);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(same_bits(out[i], c.exact(2.5f, y[i]))) << y[i];
  }
}

TEST(HalfConversion, EqualsTheScalarConversions) {
  std::vector<float16> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> wide(halves.size());
  widen(halves.data(), wide.data(), 65536);
  for (std::size_t i = 0; i < halves.size(); ++i) ASSERT_TRUE(same_bits(wide[i], static_cast<float>(halves[i])));
  auto values = float_sweep();
  values.resize(100'001);
  std::vector<float16> narrowed(values.size());
  narrow(values.data(), narrowed.data(), static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    ASSERT_EQ(narrowed[i].bits, float16(values[i]).bits) << values[i];
  }
}

}  // namespace
}  // namespace capstan::cpu
