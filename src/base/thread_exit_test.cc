#include "base/thread_exit.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace capstan {
namespace {

std::atomic<int> first_runs = 0, second_runs = 0;

TEST(ThreadExit, HooksRunOncePerThreadThatSetThem) {
  static constinit thread_local ThreadExitHook first{[]() noexcept { ++first_runs; }};
  static constinit thread_local ThreadExitHook second{[]() noexcept { ++second_runs; }};
  std::thread([] {
    for (int i = 0; i < 3; ++i) call_at_thread_exit(first);
  }).join();
  std::thread([] {
    call_at_thread_exit(first);
    call_at_thread_exit(second);
  }).join();
  std::thread([] {}).join();
  EXPECT_EQ(first_runs, 2);
  EXPECT_EQ(second_runs, 1);
}

std::atomic<int> late_runs = 0;
constinit thread_local ThreadExitHook late_hook{[]() noexcept { ++late_runs; }};

struct SetsLate {
  ~SetsLate() {
    if (is_armed) call_at_thread_exit(late_hook);
  }
  bool is_armed = false;
};
thread_local SetsLate late;

TEST(ThreadExit, DestructorsOfTheThreadMaySetHooks) {
  std::thread([] { late.is_armed = true; }).join();
  EXPECT_EQ(late_runs, 1);
}

std::atomic<bool> is_probing = false;

/// Stands where the library's own statics stand: made before most, destroyed after most.
struct Probe {
  ~Probe() {
    if (is_probing) _exit(is_process_ending() ? 0 : 1);
  }
};
[[gnu::init_priority(300)]] const Probe probe;

TEST(ThreadExitDeathTest, StaticsLearnThatTheProcessEnds) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_FALSE(is_process_ending());
  EXPECT_EXIT(
      {
        is_probing = true;
        std::exit(2);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace capstan
