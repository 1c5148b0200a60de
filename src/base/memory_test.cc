#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/mapped_blocks.h"
#include "base/object_pool.h"
#include "base/size_classes.h"
#include "base/span_heap.h"
#include "capstan/base/error.h"

namespace capstan::memory {
namespace {

struct Block {
  std::byte* begin;
  std::size_t bytes;
};

bool is_aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % kAlignment == 0; }

/// Resident pages of a mapping.
std::size_t pages_touched(void* begin, std::size_t bytes) {
  std::vector<unsigned char> is_resident((bytes + 4095) / 4096);
  mincore(begin, bytes, is_resident.data());
  return static_cast<std::size_t>(std::count_if(is_resident.begin(), is_resident.end(), [](auto c) { return c & 1; }));
}

TEST(SizeClasses, WasteAtMostAnEighth) {
  EXPECT_EQ(kSmallClasses, 96);
  for (int i = 0; i < kClasses; ++i) {
    const std::size_t size = class_size(i);
    ASSERT_EQ(size % 64, 0u);
    ASSERT_EQ(class_of(size), i);
    ASSERT_EQ(class_of(size + 1), i + 1);
    if (size > 512) {
      ASSERT_LE(size - class_size(i - 1) - 1, size / 8) << size;
    }
  }
  EXPECT_EQ(class_size(class_of(0)), 64u);
  EXPECT_EQ(class_size(class_of(400'000)), 425'984u);
}

TEST(MappedBlocks, ReusesTheBlockOfAClass) {
  MappedBlocks blocks;
  void* first = blocks.take(3'000'000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kHugePage, 0u);
  EXPECT_EQ(pages_touched(first, 3'000'000), 0u);
  blocks.give_back(first, 3'000'000);
  EXPECT_EQ(blocks.take(2'999'000), first);
  EXPECT_EQ(blocks.system_calls(), 1u);
  blocks.give_back(first, 2'999'000);
  blocks.trim();
  EXPECT_EQ(blocks.bytes_mapped(), 0u);
}

TEST(MappedBlocks, KeepsAtMost256MiBOrWhatIsInUse) {
  constexpr std::size_t kBlock = std::size_t{32} << 20;
  MappedBlocks blocks;
  std::vector<void*> taken(20);
  for (void*& block : taken) block = blocks.take(kBlock);
  for (void* block : taken) blocks.give_back(block, kBlock);
  EXPECT_EQ(blocks.bytes_mapped(), 8 * kBlock);
  EXPECT_EQ(blocks.take(kBlock), taken.back()) << "the blocks given back last are kept";
  blocks.give_back(taken.back(), kBlock);
  blocks.trim();

  for (void*& block : taken) block = blocks.take(kBlock);
  for (int i = 0; i < 10; ++i) blocks.give_back(taken[static_cast<std::size_t>(i)], kBlock);
  EXPECT_EQ(blocks.bytes_mapped(), 20 * kBlock) << "ten in use allow ten in the cache";
  for (std::size_t i = 10; i < 20; ++i) blocks.give_back(taken[i], kBlock);
  blocks.trim();
}

TEST(MappedBlocks, RefusesWhatTheSystemDoesNotHave) {
  MappedBlocks blocks;
  blocks.give_back(blocks.take(kHugePage), kHugePage);
  EXPECT_EQ(blocks.take(kSizeLimit), nullptr);
  EXPECT_EQ(blocks.bytes_mapped(), 0u) << "the cache was given back before giving up";
}

TEST(SpanHeap, BlocksNeverOverlapAndSlabsComeBack) {
  MappedBlocks blocks;
  auto spans = std::make_unique<SpanHeap>(blocks);
  std::mt19937 random(7);
  std::vector<std::pair<int, std::byte*>> live;
  std::set<std::pair<std::byte*, std::byte*>> ranges;
  for (int round = 0; round < 20'000; ++round) {
    if (random() % 5 < 3 && live.size() < 800) {
      void* got[8];
      const int size_class = static_cast<int>(random() % kSmallClasses);
      const int count = spans->take(size_class, got, 1 + static_cast<int>(random() % 8));
      ASSERT_GE(count, 1);
      for (int i = 0; i < count; ++i) {
        auto* begin = static_cast<std::byte*>(got[i]);
        ASSERT_TRUE(is_aligned(begin));
        const auto [place, is_new] = ranges.insert({begin, begin + class_size(size_class)});
        ASSERT_TRUE(is_new);
        ASSERT_TRUE(place == ranges.begin() || std::prev(place)->second <= begin);
        ASSERT_TRUE(std::next(place) == ranges.end() || place->second <= std::next(place)->first);
        live.push_back({size_class, begin});
      }
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      auto [size_class, begin] = live.back();
      live.pop_back();
      ranges.erase({begin, begin + class_size(size_class)});
      void* block = begin;
      spans->give_back(size_class, &block, 1);
    }
  }
  for (auto [size_class, begin] : live) {
    void* block = begin;
    spans->give_back(size_class, &block, 1);
  }
  blocks.trim();
  EXPECT_EQ(blocks.bytes_mapped(), 0u) << "every slab is empty again";
  spans->unmap_all();
}

// Where AArch64 puts mappings: in the upper half of 48 bits.
TEST(SpanHeap, ServesAddressesOf48Bits) {
  constexpr std::uintptr_t kAddress = std::uintptr_t{0xffff} << 32;
  EXPECT_EQ(SpanHeap::slab_number(kAddress), std::optional<std::size_t>(kAddress / kHugePage));
  EXPECT_EQ(SpanHeap::slab_number(std::uintptr_t{1} << 48), std::nullopt);
}

TEST(SpanHeap, TouchesNoFreshBlock) {
  MappedBlocks blocks;
  auto spans = std::make_unique<SpanHeap>(blocks);
  void* got[16];
  ASSERT_EQ(spans->take(class_of(4096), got, 16), 16);
  EXPECT_EQ(pages_touched(got[0], 16 * 4096), 0u);
  spans->unmap_all();
}

TEST(Memory, GivesAlignedBlocksThatDoNotOverlap) {
  std::vector<Block> blocks;
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::size_t bytes = random() % (std::size_t{1} << (random() % 22));
    blocks.push_back({static_cast<std::byte*>(allocate(bytes)), bytes});
    ASSERT_TRUE(is_aligned(blocks.back().begin));
    std::memset(blocks.back().begin, i & 255, bytes);
    if (random() % 3 == 0) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      deallocate(blocks.back().begin, blocks.back().bytes);
      blocks.pop_back();
    }
  }
  for (auto [begin, bytes] : blocks) {
    ASSERT_TRUE(std::all_of(begin, begin + bytes, [&](std::byte b) { return b == begin[0]; }));
    deallocate(begin, bytes);
  }
}

TEST(Memory, CountsBytesInUse) {
  const auto before = statistics();
  void* small = allocate(100);
  void* large = allocate(5'000'000);
  EXPECT_EQ(statistics().bytes_in_use, before.bytes_in_use + 5'000'100);
  EXPECT_GE(statistics().bytes_from_system, statistics().bytes_in_use);
  std::thread([&] { deallocate(small, 100); }).join();
  deallocate(large, 5'000'000);
  EXPECT_EQ(statistics().bytes_in_use, before.bytes_in_use);
}

TEST(Memory, SteadyStateAsksNothingOfTheSystem) {
  if (CAPSTAN_POOLS_OFF) GTEST_SKIP() << "sanitizer builds do not cache";
  const auto step = [] {
    std::vector<Block> blocks;
    for (std::size_t bytes : {64u, 4096u, 400'000u, 1'048'576u, 1'048'577u, 9'000'000u})
      for (int i = 0; i < 20; ++i) blocks.push_back({static_cast<std::byte*>(allocate(bytes)), bytes});
    for (auto [begin, bytes] : blocks) deallocate(begin, bytes);
  };
  step();
  const auto calls = statistics().system_calls;
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(statistics().system_calls, calls);
}

TEST(Memory, TrimReturnsWhatNobodyUses) {
  if (CAPSTAN_POOLS_OFF) GTEST_SKIP() << "sanitizer builds do not cache";
  std::vector<Block> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back({static_cast<std::byte*>(allocate(1'000'000)), 1'000'000});
  for (auto [begin, bytes] : blocks) deallocate(begin, bytes);
  const auto before = statistics().bytes_from_system;
  trim();
  EXPECT_LE(statistics().bytes_from_system + 40'000'000, before);
}

TEST(Memory, BlocksWanderBetweenThreads) {
  const auto before = statistics().bytes_in_use;
  std::vector<std::vector<Block>> made(4);
  const auto each = [&](auto&& work) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < made.size(); ++t) threads.emplace_back([&, t] { work(t); });
    for (auto& thread : threads) thread.join();
  };
  for (int round = 0; round < 3; ++round) {
    each([&](std::size_t t) {
      std::mt19937_64 random(t);
      for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = 1 + random() % (std::size_t{1} << (random() % 17));
        made[t].push_back({static_cast<std::byte*>(allocate(bytes)), bytes});
        made[t].back().begin[0] = std::byte{1};
      }
    });
    each([&](std::size_t t) {  // another thread gives them back
      for (auto [begin, bytes] : made[(t + 1) % made.size()]) deallocate(begin, bytes);
    });
    for (auto& blocks : made) blocks.clear();
  }
  EXPECT_EQ(statistics().bytes_in_use, before);
}

TEST(Memory, AThreadThatEndsHandsItsCacheOver) {
  if (CAPSTAN_POOLS_OFF) GTEST_SKIP() << "sanitizer builds do not cache";
  const auto work = [] {
    std::vector<void*> blocks(2);
    for (void*& block : blocks) block = allocate(900'000);
    for (void* block : blocks) deallocate(block, 900'000);
  };
  std::thread(work).join();
  const auto calls = statistics().system_calls;
  for (int i = 0; i < 20; ++i) std::thread(work).join();
  EXPECT_EQ(statistics().system_calls, calls);
}

TEST(Memory, AbsurdSizesAreResourceExhausted) {
  for (std::size_t bytes : {std::size_t{1} << 46, (std::size_t{1} << 46) + 1, std::numeric_limits<std::size_t>::max()})
    try {
      allocate(bytes);
      FAIL() << bytes;
    } catch (const ResourceExhausted& error) {
      EXPECT_EQ(error.message(),
                "out of memory: the system did not give a block of " + std::to_string(bytes) + " bytes");
    }
}

TEST(Memory, BothSidesOfAForkGoOn) {
  void* before = allocate(400'000);
  const pid_t child = fork();
  if (child == 0) {
    deallocate(before, 400'000);
    std::memset(allocate(3'000'000), 1, 3'000'000);
    _exit(statistics().bytes_in_use >= 3'000'000 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  deallocate(before, 400'000);
}

struct Part {
  std::int64_t numbers[5];
};

#if !CAPSTAN_POOLS_OFF  // sanitizers have no pools, and do not let a process with threads fork and go on
// The other thread is inside the pool most of the time, hence in many of the forks.
TEST(ObjectPool, ForkedWhileAnotherThreadIsInside) {
  std::atomic<bool> is_over = false;
  const auto use = [] {
    void* parts[2000];
    for (void*& part : parts) part = ObjectPool<Part>::take();
    for (void* part : parts) ObjectPool<Part>::give_back(part);
  };
  std::thread other([&] {
    while (!is_over) use();
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      use();
      std::thread(use).join();  // may get the stack, and with it the list, of the thread that is gone
      use();
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  is_over = true;
  other.join();
}
#endif

TEST(ObjectPool, PartsWanderBetweenThreads) {
  std::vector<void*> parts;
  std::thread([&] {
    for (int i = 0; i < 2000; ++i) parts.push_back(ObjectPool<Part>::take());
    EXPECT_EQ(ObjectPool<Part>::balance(), 2000);
  }).join();
  std::set<void*> distinct(parts.begin(), parts.end());
  EXPECT_EQ(distinct.size(), parts.size());
  std::thread([&] {
    for (void* part : parts) ObjectPool<Part>::give_back(part);
  }).join();
  if (CAPSTAN_POOLS_OFF) return;
  for (int i = 0; i < 2000; ++i) distinct.erase(parts[static_cast<std::size_t>(i)] = ObjectPool<Part>::take());
  EXPECT_LT(distinct.size(), 256u) << "all of them are used again, but for the rest of the last batch";
  for (void* part : parts) ObjectPool<Part>::give_back(part);
}

}  // namespace
}  // namespace capstan::memory
