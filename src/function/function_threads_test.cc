// Functions called from many threads: catalogue T313.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/function/control_flow.h"
#include "capstan/function/function.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"

namespace capstan {
namespace {

template <class Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Function, T313_FirstCallsFromManyThreads) {
  auto twice = function([](Tensor x) { return 2 * x; });
  std::vector<float> results(32);
  on_threads(
      32, [&](int i) { results[static_cast<std::size_t>(i)] = twice(constant(static_cast<float>(i))).item<float>(); });
  for (int i = 0; i < 32; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)], 2.f * static_cast<float>(i));
  EXPECT_EQ(twice.trace_count(), 1);
}

TEST(Function, GradientsFromManyThreads) {
  auto cube = function([](Tensor x) {
    return std::get<1>(while_loop([](Tensor i, Tensor) { return i < 2; },
                                  [&](Tensor i, Tensor v) { return std::pair(i + 1, v * x); },
                                  std::pair(constant(0), x)));
  });
  auto outer = function([&](Tensor x) { return cube(x) + x; });
  std::vector<float> results(8);
  on_threads(8, [&](int i) {
    const Tensor x = constant(static_cast<float>(i));
    GradientTape tape;
    tape.watch(x);
    results[static_cast<std::size_t>(i)] = tape.gradient(i % 2 ? cube(x) : outer(x), x).tensor().item<float>();
  });
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(results[static_cast<std::size_t>(i)], 3.f * static_cast<float>(i * i) + (i % 2 ? 0.f : 1.f));
}

}  // namespace
}  // namespace capstan
