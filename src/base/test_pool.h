// A worker that is kept busy, for tests of what happens then.
#pragma once

#include <atomic>
#include <thread>

#include "base/pool_task.h"

namespace capstan {

/// Runs on a worker until `may_end` is set.
struct Blocker : PoolTask {
  void run() noexcept override {
    is_running = true;
    while (!may_end) std::this_thread::yield();
    has_ended = true;
  }
  /// Posts itself and waits until a worker runs it.
  void start() {
    post(*this);
    while (!is_running) std::this_thread::yield();
  }
  std::atomic<bool> is_running = false, may_end = false, has_ended = false;
};

}  // namespace capstan
