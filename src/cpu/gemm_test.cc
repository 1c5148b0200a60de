#include "cpu/gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "capstan/base/threads.h"
#include "capstan/tensor/dtype.h"
#include "cpu/onednn.h"

namespace capstan::cpu {
namespace {

template <class T>
std::vector<T> numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(uniform(random));
  return values;
}

template <class T>
void expect_product(const Product& p, double tolerance) {
  const auto a = numbers<T>(p.m * p.k, 1), b = numbers<T>(p.k * p.n, 2);
  std::vector<T> c(static_cast<std::size_t>(p.m * p.n), T(77));
  multiply(p, a.data(), b.data(), c.data());
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      double expected = 0;
      for (std::int64_t l = 0; l < p.k; ++l)
        expected += static_cast<double>(a[static_cast<std::size_t>(p.transpose_a ? l * p.m + i : i * p.k + l)]) *
                    static_cast<double>(b[static_cast<std::size_t>(p.transpose_b ? j * p.k + l : l * p.n + j)]);
      ASSERT_NEAR(expected, static_cast<double>(c[static_cast<std::size_t>(i * p.n + j)]), tolerance)
          << p.m << "x" << p.k << "x" << p.n << " element " << i << "," << j << (p.transpose_a ? " a transposed" : "")
          << (p.transpose_b ? " b transposed" : "");
    }
}

void expect_products() {
  // Around the tiles, vectors and blocks of the kernel: 6 or 12 rows, 8 to 32 columns, depth 128 or 256, 192 rows.
  const std::int64_t sizes[][3] = {{1, 1, 1},    {2, 3, 4},     {1, 300, 37},   {300, 1, 37},
                                   {37, 300, 1}, {6, 16, 40},   {13, 33, 7},    {25, 50, 19},
                                   {5, 9, 513},  {193, 17, 31}, {200, 90, 270}, {64, 640, 100}};
  for (const auto& [m, n, k] : sizes)
    for (bool ta : {false, true})
      for (bool tb : {false, true}) {
        expect_product<float>({m, n, k, ta, tb}, 2e-4);
        expect_product<double>({m, n, k, ta, tb}, 1e-12);
      }
}

TEST(Gemm, AgreesWithTheDefinitionOnOneDnn) { expect_products(); }

TEST(Gemm, AgreesWithTheDefinitionOnOurOwnLoops) {
  switch_onednn(false);
  expect_products();
  switch_onednn(true);
}

TEST(Gemm, HalfTypesAreSummedInFloat) {
  // A sum of 4096 ones in float16 stops at 2048.
  const std::vector<float16> ones(4096, float16(1.f));
  float16 c;
  multiply(Product{1, 1, 4096}, ones.data(), ones.data(), &c);
  EXPECT_EQ(static_cast<float>(c), 4096.f);
}

TEST(Gemm, IntegersWrapAround) {
  const std::int32_t a[] = {2147483647, 2}, b[] = {2, 1};
  std::int32_t c;
  multiply(Product{1, 1, 2}, a, b, &c);
  EXPECT_EQ(c, 0);
  const std::int16_t short_a[] = {30000, 30000}, short_b[] = {2, 2};
  std::int16_t short_c;
  multiply(Product{1, 1, 2}, short_a, short_b, &short_c);
  EXPECT_EQ(short_c, static_cast<std::int16_t>(120000 % 65536));
}

TEST(Gemm, EmptySumsAreZero) {
  float c[] = {7, 7, 7, 7};
  multiply<float>(Product{2, 2, 0}, nullptr, nullptr, c);
  for (float value : c) EXPECT_EQ(value, 0.f);
  multiply<float>(Product{0, 2, 3}, nullptr, nullptr, nullptr);
}

TEST(Gemm, AddsToWhatIsThere) {
  const auto a = numbers<float>(100 * 60, 1), b = numbers<float>(60 * 80, 2);
  std::vector<float> once(8000), twice(8000);
  multiply_here(Product{100, 80, 60}, a.data(), b.data(), once.data());
  multiply_here(Product{100, 80, 60}, a.data(), b.data(), twice.data());
  multiply_here(Product{100, 80, 60}, a.data(), b.data(), twice.data(), /*accumulate=*/true);
  for (std::size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(twice[i], 2 * once[i], 1e-4);
}

TEST(Gemm, BitsDoNotDependOnTheNumberOfThreads) {
  const int before = thread_count();
  for (bool with_onednn : {true, false}) {
    switch_onednn(with_onednn);
    const auto a = numbers<float>(500 * 300, 1), b = numbers<float>(300 * 700, 2);
    std::vector<std::vector<float>> results;
    for (int threads : {1, 2, 5}) {
      set_thread_count(threads);
      results.emplace_back(500 * 700);
      multiply(Product{500, 700, 300}, a.data(), b.data(), results.back().data());
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
  set_thread_count(before);
  switch_onednn(true);
}

}  // namespace
}  // namespace capstan::cpu
