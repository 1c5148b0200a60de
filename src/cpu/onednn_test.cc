#include "cpu/onednn.h"

#include <gtest/gtest.h>

#include <vector>

#include "cpu/gemm.h"

namespace capstan::cpu {
namespace {

TEST(OneDnn, SwitchTurnsItOffAndOn) {
  const OneDnn* loaded = onednn();
  switch_onednn(false);
  EXPECT_EQ(onednn(), nullptr);
  switch_onednn(true);
  EXPECT_EQ(onednn(), loaded);
}

TEST(OneDnn, LeavesTheCallersThreadSettingAlone) {
  const OneDnn* dnn = onednn();
  if (!dnn) GTEST_SKIP() << "there is no oneDNN here";
  const int before = dnn->omp_get_max_threads();
  dnn->omp_set_num_threads(3);
  {
    const OneDnnThread alone(*dnn);
    EXPECT_EQ(dnn->omp_get_max_threads(), 1);
  }
  EXPECT_EQ(dnn->omp_get_max_threads(), 3);
  std::vector<float> a(128 * 128, 1.f), c(128 * 128);
  multiply(Product{128, 128, 128}, a.data(), a.data(), c.data());
  EXPECT_EQ(c[5], 128.f);
  EXPECT_EQ(dnn->omp_get_max_threads(), 3);
  dnn->omp_set_num_threads(before);
}

}  // namespace
}  // namespace capstan::cpu

#if defined(__SANITIZE_ADDRESS__)
// The leak checker itself faults when it walks the memory of oneDNN's convolutions. Leaks of our own are looked for in
// the programs of the other folders.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif
