#include "base/thread_pool.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/pool_task.h"
#include "base/test_pool.h"
#include "capstan/base/error.h"

namespace capstan {
namespace {

class ThreadPool : public testing::Test {
 protected:
  ~ThreadPool() override { set_thread_count(1); }
};

/// Threads that took a block. Each block waits until `threads` have come, or gives up after a while.
std::size_t threads_that_take_part(std::int64_t blocks, std::size_t hoped_for) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(blocks, [&](std::int64_t) {
    for (int tries = 0; tries < 2000; ++tries) {
      {
        std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
        if (seen.size() >= hoped_for) return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  return seen.size();
}

TEST_F(ThreadPool, RunsEveryBlockOnce) {
  for (int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    for (std::int64_t blocks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(blocks));
      parallel_for(blocks, [&](std::int64_t b) { ++runs[static_cast<std::size_t>(b)]; });
      for (const auto& count : runs) ASSERT_EQ(count, 1) << threads << " threads, " << blocks << " blocks";
    }
  }
}

TEST_F(ThreadPool, MakesPlainWritesVisibleToTheCaller) {
  set_thread_count(4);
  std::vector<int> squares(64);
  for (int round = 0; round < 2000; ++round) {
    parallel_for(64, [&](std::int64_t b) { squares[static_cast<std::size_t>(b)] = static_cast<int>(b) + round; });
    ASSERT_EQ(std::accumulate(squares.begin(), squares.end(), 0), 63 * 32 + 64 * round);
  }
}

TEST_F(ThreadPool, NThreadsMeansN) {
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3);
  EXPECT_EQ(threads_that_take_part(12, 3), 3u);
  EXPECT_EQ(worker_count(), 2);
  set_thread_count(2);
  EXPECT_EQ(worker_count(), 1);
  std::size_t from_fresh_thread = 0;
  std::thread([&] { from_fresh_thread = threads_that_take_part(12, 2); }).join();
  EXPECT_EQ(from_fresh_thread, 2u);
  set_thread_count(1);
  EXPECT_EQ(worker_count(), 0);
  EXPECT_EQ(threads_that_take_part(4, 1), 1u);
}

TEST_F(ThreadPool, StartsThreadsOnlyWhenWorkNeedsThem) {
  set_thread_count(1);
  set_thread_count(4);
  EXPECT_EQ(worker_count(), 0);
  parallel_for(1, [](std::int64_t) {});
  EXPECT_EQ(worker_count(), 0);
  parallel_for(2, [](std::int64_t) {});
  EXPECT_EQ(worker_count(), 3);
}

TEST_F(ThreadPool, SleepingWorkersComeBack) {
  set_thread_count(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(threads_that_take_part(4, 2), 2u);
  }
}

TEST_F(ThreadPool, NestedRegionsStayOnTheirThread) {
  set_thread_count(3);
  std::atomic<int> runs = 0, strangers = 0;
  parallel_for(8, [&](std::int64_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(5, [&](std::int64_t) {
      ++runs;
      if (std::this_thread::get_id() != self) ++strangers;
    });
  });
  EXPECT_EQ(runs, 40);
  EXPECT_EQ(strangers, 0);
}

TEST_F(ThreadPool, SecondCallerRunsAlone) {
  set_thread_count(2);
  std::atomic<int> begun = 0;
  std::atomic<bool> may_end = false;
  std::thread first([&] {
    parallel_for(2, [&](std::int64_t) {
      ++begun;
      while (!may_end) std::this_thread::yield();
    });
  });
  while (!begun) std::this_thread::yield();
  EXPECT_EQ(threads_that_take_part(3, 1), 1u);
  may_end = true;
  first.join();
}

TEST_F(ThreadPool, ManyCallersAtOnce) {
  set_thread_count(3);
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) parallel_for(10, [&](std::int64_t b) { sum += b; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 300 * 45);
}

TEST_F(ThreadPool, FirstExceptionReachesTheCaller) {
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    std::atomic<int> running = 0;
    const auto body = [&](std::int64_t b) {
      ++running;
      const bool is_bad = b == 3;
      std::this_thread::sleep_for(std::chrono::microseconds(10));
      --running;
      if (is_bad) throw InvalidArgument("block 3");
    };
    try {
      parallel_for(100, body);
      FAIL() << "nothing was thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_STREQ(error.what(), "block 3");
    }
    EXPECT_EQ(running, 0);
  }
  std::atomic<int> runs = 0;
  parallel_for(10, [&](std::int64_t) { ++runs; });
  EXPECT_EQ(runs, 10);
}

TEST_F(ThreadPool, BlocksNotBegunAreDroppedAfterAnException) {
  set_thread_count(2);
  std::atomic<int> runs = 0;
  EXPECT_THROW(parallel_for(1'000'000,
                            [&](std::int64_t) {
                              ++runs;
                              throw std::runtime_error("stop");
                            }),
               std::runtime_error);
  EXPECT_LE(runs, 2);
}

TEST_F(ThreadPool, CountMayChangeInsideARegion) {
  set_thread_count(3);
  parallel_for(6, [&](std::int64_t) { set_thread_count(2); });
  EXPECT_EQ(worker_count(), 1);
}

TEST_F(ThreadPool, RefusesCountsOutsideItsRange) {
  for (int bad : {0, -1, 1025, std::numeric_limits<int>::max()}) {
    try {
      set_thread_count(bad);
      FAIL() << bad;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.message(), "set_thread_count: the number must be from 1 to 1024, got " + std::to_string(bad));
    }
  }
}

struct CountingTask : PoolTask {
  explicit CountingTask(std::atomic<int>& counter) : runs(counter) {}
  void run() noexcept override { ++runs; }
  std::atomic<int>& runs;
};

TEST_F(ThreadPool, TasksRunOnWorkers) {
  set_thread_count(3);
  std::atomic<int> runs = 0;
  std::vector<std::unique_ptr<CountingTask>> tasks;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(post(*tasks.emplace_back(std::make_unique<CountingTask>(runs))));
  while (runs < 100) std::this_thread::yield();
  EXPECT_EQ(worker_count(), 2);
  for (auto& task : tasks) EXPECT_FALSE(withdraw(*task));
}

TEST_F(ThreadPool, OneThreadTakesNoTask) {
  set_thread_count(1);
  std::atomic<int> runs = 0;
  CountingTask task(runs);
  EXPECT_FALSE(post(task));
  EXPECT_FALSE(withdraw(task));
}

// All workers are busy: what is posted waits, and can be taken back.
TEST_F(ThreadPool, PostedTasksCanBeWithdrawn) {
  set_thread_count(2);
  Blocker blocker;
  blocker.start();
  std::atomic<int> runs = 0, blocks = 0;
  CountingTask first(runs), second(runs), third(runs);
  for (CountingTask* task : {&first, &second, &third}) post(*task);
  EXPECT_TRUE(withdraw(second));
  EXPECT_FALSE(withdraw(second));
  EXPECT_TRUE(withdraw(third));
  parallel_for(10, [&](std::int64_t) { ++blocks; });  // does not wait for the worker
  EXPECT_EQ(blocks, 10);
  EXPECT_TRUE(post(third));
  blocker.may_end = true;
  while (runs < 2) std::this_thread::yield();
  EXPECT_TRUE(blocker.has_ended);
}

TEST_F(ThreadPool, ATaskMayUseThePool) {
  set_thread_count(2);
  struct Task : PoolTask {
    void run() noexcept override {
      parallel_for(5, [&](std::int64_t) { ++blocks; });
      set_thread_count(1);
      is_done = true;
    }
    std::atomic<int> blocks = 0;
    std::atomic<bool> is_done = false;
  } task;
  post(task);
  while (!task.is_done) std::this_thread::yield();
  EXPECT_EQ(task.blocks, 5);
}

TEST_F(ThreadPool, ChildOfAForkHasItsOwnWorkers) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer does not let a forked child start threads";
#endif
  set_thread_count(2);
  parallel_for(2, [](std::int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    const bool is_fresh = worker_count() == 0;
    const bool has_two = threads_that_take_part(4, 2) == 2;
    std::exit(is_fresh && has_two ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The program is started anew for these: what they look at happens once in a process.
class ThreadPoolDeathTest : public testing::Test {
 protected:
  ThreadPoolDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

int threads_of_process() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

TEST_F(ThreadPoolDeathTest, LoadingStartsNoThread) {
  const int before = threads_of_process();
  EXPECT_EXIT(std::exit(thread_count() >= 1 && worker_count() == 0 && threads_of_process() <= before ? 0 : 1),
              testing::ExitedWithCode(0), "");
}

TEST_F(ThreadPoolDeathTest, EnvironmentGivesTheCount) {
  EXPECT_EXIT(
      {
        setenv("CAPSTAN_NUM_THREADS", "5", 1);
        std::exit(thread_count() == 5 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  for (const char* bad : {"0", "many", "4x", "-2", "1025", "99999999999999999999"})
    EXPECT_EXIT(
        {
          setenv("CAPSTAN_NUM_THREADS", bad, 1);
          try {
            thread_count();
          } catch (const InvalidArgument& error) {
            fputs(error.what(), stderr);
            std::exit(0);
          }
          std::exit(1);
        },
        testing::ExitedWithCode(0), std::string("CAPSTAN_NUM_THREADS must be a number from 1 to 1024, got '") + bad);
}

TEST_F(ThreadPoolDeathTest, ProcessEndsWhileWorkersSleep) {
  EXPECT_EXIT(
      {
        set_thread_count(4);
        parallel_for(8, [](std::int64_t) {});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThreadPoolDeathTest, ProcessEndsWhileAHostThreadIsInARegion) {
  EXPECT_EXIT(
      {
        set_thread_count(2);
        static std::atomic<int> begun = 0;
        std::thread([] {
          parallel_for(2, [](std::int64_t) {
            ++begun;
            for (;;) usleep(1000);
          });
        }).detach();
        while (begun < 2) std::this_thread::yield();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThreadPoolDeathTest, ProcessEndsWhileATaskRuns) {
  EXPECT_EXIT(
      {
        struct Task : PoolTask {
          void run() noexcept override {
            is_running = true;
            for (;;) usleep(1000);
          }
          std::atomic<bool> is_running = false;
        };
        static Task* const task = new Task;
        set_thread_count(2);
        post(*task);
        while (!task->is_running) std::this_thread::yield();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

struct WorksAtExit {
  ~WorksAtExit() {
    std::atomic<int> runs = 0;
    parallel_for(10, [&](std::int64_t) { ++runs; });
    if (runs != 10) _exit(3);
  }
};

TEST_F(ThreadPoolDeathTest, StaticDestructorsMayStillRunRegions) {
  EXPECT_EXIT(
      {
        static WorksAtExit worker;
        set_thread_count(2);
        parallel_for(2, [](std::int64_t) {});
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace capstan
