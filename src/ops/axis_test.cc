// Axes beyond 32 bits are refused as they were given, not as what is left of them in 32.
#include <gtest/gtest.h>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/reduce.h"

namespace capstan {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 32;  // 0 in its lower 32 bits

template <class Function>
void expect_refused(Function&& function) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("4294967296"), std::string::npos) << error.what();
  }
}

TEST(Axis, Beyond32BitsIsRefused) {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  expect_refused([&] { reduce_sum(x, {.axis = kFar}); });
  expect_refused([&] { reduce_max(x, {.axis = {0, kFar}}); });
  expect_refused([&] { argmax(x, kFar); });
  expect_refused([&] { cumsum(x, kFar); });
  expect_refused([&] { concat({x, x}, kFar); });
  expect_refused([&] { split(x, 2, kFar); });
  expect_refused([&] { expand_dims(x, kFar); });
  expect_refused([&] { transpose(x, {0, kFar}); });
  expect_refused([&] { gather(x, constant({0}), {.axis = kFar}); });
  expect_refused([&] { stack({x, x}, kFar); });
  expect_refused([&] { unstack(x, kFar); });
  expect_refused([&] { squeeze(x, {kFar}); });
}

}  // namespace
}  // namespace capstan
