#include "capstan/ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/base/threads.h"
#include "capstan/ops/array.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/math.h"
#include "capstan/ops/segment.h"

namespace capstan {
namespace {

Tensor normals(const Shape& shape, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (float& value : values) value = normal(generator);
  return constant(values, shape);
}

/// The sum over the middle of [outer, n, inner], in double.
std::vector<double> middle_sums(const Tensor& x) {
  const std::int64_t outer = x.dim(0), n = x.dim(1), inner = x.dim(2);
  std::vector<double> sums(static_cast<std::size_t>(outer * inner));
  for (std::int64_t i = 0; i < outer * n * inner; ++i)
    sums[static_cast<std::size_t>(i / (n * inner) * inner + i % inner)] +=
        x.values<float>()[static_cast<std::size_t>(i)];
  return sums;
}

TEST(Reduce, LongSumsOfEveryShapeAreRight) {
  for (const Shape& shape : {Shape{1, 100000, 1}, Shape{3, 70001, 1}, Shape{700, 33, 1}, Shape{1, 9001, 7},
                             Shape{2, 300, 1500}, Shape{5, 1, 40}, Shape{4, 65, 64}, Shape{1, 40000, 3}}) {
    SCOPED_TRACE(shape.to_string());
    const Tensor x = normals(shape);
    const std::vector<float> got = reduce_sum(x, {.axis = 1}).to_vector<float>();
    const std::vector<double> expected = middle_sums(x);
    const double tolerance = 1e-6 * std::sqrt(static_cast<double>(shape[1])) * 8;
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << i;
  }
}

TEST(Reduce, ExtremesAreFoundAnywhere) {
  for (const std::int64_t n : {1, 31, 32, 33, 2047, 2049, 40000})
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      std::vector<float> values(static_cast<std::size_t>(n), 1.f);
      values[static_cast<std::size_t>(at)] = 5.f;
      EXPECT_EQ(reduce_max(constant(values)).item<float>(), 5.f) << n << " " << at;
      values[static_cast<std::size_t>(at)] = -5.f;
      EXPECT_EQ(reduce_min(constant(values)).item<float>(), -5.f) << n << " " << at;
      values[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(reduce_max(constant(values)).item<float>())) << n << " " << at;
      EXPECT_TRUE(std::isnan(reduce_min(reshape(constant(values), {n, 1, 1}), {.axis = 0}).item<float>())) << n;
    }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw_data(), b.raw_data(), static_cast<std::size_t>(a.size()) * 4) == 0;
}

TEST(Reduce, Report97_SameBitsForAnyNumberOfThreads) {
  const int threads_before = thread_count();
  const Tensor few = normals({1000}), many = normals({300001}), columns = normals({5000, 70}),
               table = normals({30, 256}), tall = normals({20000, 32});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 30; ++i) ids.push_back(i * 7 % 4);
  std::vector<std::int32_t> tall_ids;
  for (int i = 0; i < 20000; ++i) tall_ids.push_back(i * 31 % 40);
  const auto run = [&] {
    return std::vector<Tensor>{reduce_sum(few),
                               reduce_sum(many),
                               reduce_sum(columns, {.axis = 0}),
                               reduce_sum(columns, {.axis = 1}),
                               reduce_prod(many),
                               reduce_euclidean_norm(many),
                               unsorted_segment_sum(table, constant(ids), constant(4)),
                               unsorted_segment_sum(tall, constant(tall_ids), constant(40))};
  };
  set_thread_count(1);
  const std::vector<Tensor> expected = run();
  for (int threads : {1, 4, 16}) {
    set_thread_count(threads);
    for (int round = 0; round < 5; ++round) {
      const std::vector<Tensor> got = run();
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(same_bits(expected[i], got[i])) << threads << " " << i;
    }
  }
  set_thread_count(threads_before);
}

TEST(Reduce, Report75_NothingAlongAnAxis) {
  const Tensor x = zeros({0, 10});
  const auto all_are = [](const Tensor& tensor, float value) {
    EXPECT_EQ(tensor.shape(), (Shape{10}));
    for (float element : tensor.values<float>()) EXPECT_EQ(element, value);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  all_are(reduce_max(x, {.axis = 0}), -infinity);
  all_are(reduce_min(x, {.axis = 0}), infinity);
  all_are(reduce_sum(x, {.axis = 0}), 0);
  all_are(reduce_prod(x, {.axis = 0}), 1);
  const Tensor mean = reduce_mean(x, {.axis = 0});
  for (float element : mean.values<float>()) EXPECT_TRUE(std::isnan(element));
}

TEST(Reduce, Report77_GradientOfAProductWithZeros) {
  const Tensor x = constant({2.f, 0.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor product = reduce_prod(x, {.axis = -1});
  EXPECT_EQ(tape.gradient(product, x).tensor().to_vector<float>(), (std::vector<float>{0, 8, 0}));
}

TEST(Reduce, DerivativesOfProductsAreRightAtZero) {
  const Tensor x = constant({2.f, 0.f, 4.f});
  GradientTape outer;
  outer.watch(x);
  Tensor first;
  {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor running = cumprod(x), product = reduce_prod(x);
    EXPECT_EQ(tape.gradient(running, x).tensor().to_vector<float>(), (std::vector<float>{1, 10, 0}));
    first = tape.gradient(product, x).tensor();
  }
  EXPECT_EQ(outer.gradient(first, x).tensor().to_vector<float>(), (std::vector<float>{4, 6, 2}));
}

TEST(Reduce, ComplexRunningProductsHaveTheGradientOfProducts) {
  using Complex = std::complex<double>;
  const Tensor x = constant({Complex(1, 2), Complex(0.5, -1), Complex(2, 1)});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const std::vector<Tensor> factors = unstack(x);
  const Tensor by_hand = stack({factors[0], factors[0] * factors[1], factors[0] * factors[1] * factors[2]});
  const Tensor running = cumprod(x);
  const Tensor expected = tape.gradient(by_hand, x).tensor(), got = tape.gradient(running, x).tensor();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LT(std::abs(expected.values<Complex>()[i] - got.values<Complex>()[i]), 1e-12) << i;
}

TEST(Reduce, Report83_GatheringNothingHasZerosAsGradient) {
  const Tensor x = zeros({3, 2});
  GradientTape tape;
  tape.watch(x);
  const Tensor picked = gather(x, zeros({0, 2}, DType::int32));
  EXPECT_EQ(picked.shape(), (Shape{0, 2, 2}));
  const Tensor gradient = tape.gradient(picked, x).tensor();
  EXPECT_EQ(gradient.shape(), (Shape{3, 2}));
  for (float element : gradient.values<float>()) EXPECT_EQ(element, 0);
}

TEST(Reduce, Report86_SegmentNumbersOutside) {
  const Tensor x = constant({1.f, 2.f});
  EXPECT_THROW(unsorted_segment_sum(x, constant({0, 7}), constant(3)), InvalidArgument);
  EXPECT_EQ(unsorted_segment_sum(x, constant({-1, 1}), constant(3)).to_vector<float>(), (std::vector<float>{0, 2, 0}));
  try {
    unsorted_segment_sum(x, constant({0, 7}), constant(3));
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "UnsortedSegmentSum: segment_ids[1] = 7 is outside [0, 3)");
  }
}

TEST(Reduce, ComposedOnes) {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 6.f, 8.f}});
  EXPECT_NEAR(reduce_variance(x, {.axis = 1}).values<float>()[1], 8.f / 3, 1e-6);
  EXPECT_NEAR(reduce_std(x, {.axis = 1}).values<float>()[0], std::sqrt(2.f / 3), 1e-6);
  EXPECT_NEAR(norm(constant({3.f, 4.f})).item<float>(), 5, 1e-6);
  EXPECT_NEAR(reduce_logsumexp(constant({1000.f, 1000.f})).item<float>(), 1000 + std::log(2.), 1e-3);
  const float lowest = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(reduce_logsumexp(constant({lowest, lowest})).item<float>(), lowest);
  EXPECT_EQ(reduce_logsumexp(x, {.axis = 0, .keepdims = true}).shape(), (Shape{1, 3}));
  const Tensor unit = l2_normalize(constant({3.f, 4.f}), 0);
  EXPECT_NEAR(unit.values<float>()[0], 0.6f, 1e-6);
}

TEST(Reduce, Report74_NormalizingZero) {
  const Tensor x = constant({{0.}});
  GradientTape tape;
  tape.watch(x);
  const Tensor unit = l2_normalize(x, 1);
  EXPECT_NEAR(tape.gradient(unit, x).tensor().item<double>(), 1e6, 1e-3);
}

TEST(Reduce, IntegersWrapAndMeansOfShortTypesAreRight) {
  EXPECT_EQ(reduce_sum(constant({2147483647, 1})).item<std::int32_t>(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(reduce_mean(constant({100, 100, 103}, DType::int8)).item<std::int8_t>(), 101);
  EXPECT_EQ(reduce_mean(fill({300}, constant(1, DType::int8))).item<std::int8_t>(), 1);
}

}  // namespace
}  // namespace capstan
