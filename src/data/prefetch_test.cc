#include "data/prefetch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/pool_task.h"
#include "base/test_errors.h"
#include "base/test_pool.h"
#include "base/thread_pool.h"
#include "capstan/base/threads.h"
#include "capstan/ops/math.h"

namespace capstan::data {
namespace {

class Prefetch : public ::testing::Test {
 protected:
  void SetUp() override { set_thread_count(2); }
  void TearDown() override { set_thread_count(before_); }
  int before_ = thread_count();
};

std::int64_t threads_of_process() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

/// 0 to `count` - 1, and who made them.
auto counted(int count, std::atomic<int>& made, std::thread::id& maker) {
  return from_tensors(constant(0)).repeat(count).map([&](Tensor) {
    maker = std::this_thread::get_id();
    return constant(made++);
  });
}

TEST_F(Prefetch, KeepsTheOrder) {
  for (const int count : {1, 2, 100}) {
    std::atomic<int> made = 0;
    std::thread::id maker;
    int expected = 0;
    for (const Tensor& x : counted(50, made, maker).prefetch(count)) EXPECT_EQ(x.item<int>(), expected++);
    EXPECT_EQ(expected, 50);
  }
}

TEST_F(Prefetch, RunsAheadAsFarAsToldAndNoFurther) {
  std::atomic<int> made = 0;
  std::thread::id maker;
  const auto dataset = counted(50, made, maker).prefetch(3);
  EXPECT_EQ(made, 0);  // nothing starts before an iteration
  auto iterator = dataset.begin();
  while (made < 4) std::this_thread::yield();  // the first element is ours, three are ready
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, 4);
  EXPECT_NE(maker, std::this_thread::get_id());
  ++iterator;
  while (made < 5) std::this_thread::yield();
}

TEST_F(Prefetch, NThreadsMeansN) {
  set_thread_count(1);
  std::thread([] {}).join();  // ThreadSanitizer starts a thread of its own beside the first one
  const std::int64_t alone = threads_of_process();
  set_thread_count(2);
  const auto endless = from_tensors(constant(1)).repeat().prefetch(2).batch(2).prefetch(3);
  auto first = endless.begin(), second = endless.begin();
  for (int i = 0; i < 20; ++i) ++first, ++second;
  EXPECT_EQ(threads_of_process(), alone + 1);
}

TEST_F(Prefetch, AReaderMayLeaveAtAnyTime) {
  const auto endless = from_tensors(constant(1)).repeat().prefetch(2);
  for (int round = 0; round < 200; ++round)
    for (const Tensor& x : endless)
      if (x.is_defined()) break;
  EXPECT_THROW(
      {
        for (const Tensor& x : endless)
          if (x.is_defined()) throw std::runtime_error("of the reader");
      },
      std::runtime_error);
}

// The one worker is busy with something else: the reader makes its elements itself.
TEST_F(Prefetch, WaitsForNoWorkerThatDoesNotCome) {
  Blocker blocker;
  blocker.start();
  int seen = 0;
  for (const Tensor& x : from_tensors(constant(1)).repeat(10).prefetch(2).prefetch(3)) seen += x.item<int>();
  EXPECT_EQ(seen, 10);
  blocker.may_end = true;
  while (!blocker.has_ended) std::this_thread::yield();
}

TEST_F(Prefetch, TheThreadCountMayChangeMeanwhile) {
  int expected = 0;
  std::atomic<int> made = 0;
  std::thread::id maker;
  for (const Tensor& x : counted(60, made, maker).prefetch(2)) {
    EXPECT_EQ(x.item<int>(), expected++);
    set_thread_count(1 + expected % 3);
  }
  EXPECT_EQ(expected, 60);
}

TEST_F(Prefetch, ManyReadersAtOnce) {
  set_thread_count(3);
  std::vector<std::thread> readers;
  std::atomic<int> seen = 0;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      for (const Tensor& x : from_tensors(constant(1)).repeat(50).prefetch(2).prefetch(1)) seen += x.item<int>();
    });
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(seen, 200);
}

TEST_F(Prefetch, AnErrorComesInItsTurn) {
  std::atomic<int> made = 0;
  const auto failing = from_tensors(constant(0)).repeat().map([&](Tensor) {
    if (++made == 3) throw Unavailable("the third");
    return constant(1);
  });
  auto iterator = failing.prefetch(5).begin();
  ++iterator;
  EXPECT_THROW(++iterator, Unavailable);
}

TEST_F(Prefetch, NeedsNoThreadWhereThereIsOne) {
  set_thread_count(1);
  std::atomic<int> made = 0;
  std::thread::id maker;
  const auto dataset = counted(5, made, maker).prefetch(3);
  auto iterator = dataset.begin();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(maker, std::this_thread::get_id());
  ++iterator;
  EXPECT_EQ(iterator->item<int>(), 1);
}

TEST_F(Prefetch, IsRepeatedAndChained) {
  std::vector<int> values;
  const auto three = from_tensor_slices(constant({1, 2, 3})).prefetch(2);
  for (const Tensor& batch : three.repeat(2).batch(2).prefetch(1).prefetch(2))
    for (const int value : batch.values<int>()) values.push_back(value);
  EXPECT_EQ(values, (std::vector{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(three.cardinality(), 3);
}

// The producer uses the pool while a region of the pool reads: neither may wait for the other.
TEST_F(Prefetch, WorksInsideARegionOfThePool) {
  const Tensor big = constant(std::vector<float>(200'000, 1.f));
  std::atomic<int> seen = 0;
  parallel_for(4, [&](std::int64_t) {
    for (const Tensor& x : from_tensors(big).repeat(5).map([](Tensor x) { return x + x; }).prefetch(2))
      seen += x.values<float>()[0] == 2.f;
  });
  EXPECT_EQ(seen, 20);
}

#if !defined(__SANITIZE_THREAD__)  // which does not let a process with threads fork and go on
TEST_F(Prefetch, SaysWhatAForkDoesToIt) {
  const auto endless = from_tensors(constant(1)).repeat().prefetch(1);
  auto iterator = std::make_unique<DatasetIterator<1>>(endless.begin());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const bool said = message_of<FailedPrecondition>([&] { ++*iterator; }).find("forked") != std::string::npos;
    iterator.reset();
    int fresh = 0;
    for (const Tensor& x : endless.take(3)) fresh += x.item<int>();
    _exit(said && fresh == 3 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ++*iterator;
  EXPECT_EQ((*iterator)->item<int>(), 1);
}
#endif

}  // namespace
}  // namespace capstan::data
