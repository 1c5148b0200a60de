#include "base/memory.h"

#if !CAPSTAN_POOLS_OFF  // else memory_checked.cc

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/mapped_blocks.h"
#include "base/size_classes.h"
#include "base/span_heap.h"
#include "base/thread_exit.h"
#include "capstan/base/error.h"

namespace capstan::memory {
namespace {

[[noreturn]] void throw_exhausted(std::size_t bytes) {
  throw ResourceExhausted("out of memory: the system did not give a block of " + std::to_string(bytes) + " bytes");
}

/// A number that one thread changes and others may read.
class Tally {
 public:
  void add(std::int64_t change) noexcept { value_.store(read() + change, std::memory_order_relaxed); }
  std::int64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

constexpr int capacity_of(int size_class) {
  return static_cast<int>(std::clamp<std::size_t>((256u << 10) / class_size(size_class), 2, 128));
}
constexpr int kAllSlots = [] {
  int sum = 0;
  for (int i = 0; i < kSmallClasses; ++i) sum += capacity_of(i);
  return sum;
}();

/// What one thread keeps. Blocks are remembered beside, not inside, them: a block in the cache is not touched.
struct ThreadCache {
  struct Bin {
    int count = 0;
    int capacity = 0;
    void** blocks = nullptr;
  };
  Tally in_use;
  std::array<Bin, kSmallClasses> bins;
  ThreadCache* previous = nullptr;  // among the living threads' ones
  ThreadCache* following = nullptr;
  std::array<void*, kAllSlots> slots;

  ThreadCache() noexcept {
    int first = 0;
    for (int i = 0; i < kSmallClasses; ++i) {
      bins[i] = {0, capacity_of(i), &slots[first]};
      first += capacity_of(i);
    }
  }
};

/// What all threads share. Never destroyed.
struct Heap {
  std::mutex mutex;
  MappedBlocks mapped;
  SpanHeap spans{mapped};
  ThreadCache* living = nullptr;
  ThreadCache* idle = nullptr;        // caches of threads that ended
  std::int64_t in_use_elsewhere = 0;  // large blocks, and what threads that ended had in use
  PartsPool* pools = nullptr;

  std::int64_t in_use() const noexcept {
    std::int64_t sum = in_use_elsewhere;
    for (const ThreadCache* cache = living; cache; cache = cache->following) sum += cache->in_use.read();
    return sum;
  }
};

constinit union Forever {  // a union runs no destructor
  constexpr Forever() : heap() {}
  constexpr ~Forever() {}
  Heap heap;
} forever;
Heap& heap() noexcept { return forever.heap; }

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache* local = nullptr;

void retire_local_cache() noexcept;
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadExitHook exit_hook{retire_local_cache};

void empty_bin(ThreadCache::Bin& bin, int size_class, int keep) noexcept {
  // The oldest ones go; the newest are still in the processor's cache.
  const int leave = bin.count - keep;
  heap().spans.give_back(size_class, bin.blocks, leave);
  std::copy(bin.blocks + leave, bin.blocks + bin.count, bin.blocks);
  bin.count = keep;
}

void empty_cache(ThreadCache& cache) noexcept {
  for (int i = 0; i < kSmallClasses; ++i)
    if (cache.bins[i].count) empty_bin(cache.bins[i], i, 0);
}

void retire_local_cache() noexcept {
  ThreadCache* cache = std::exchange(local, nullptr);
  if (!cache) return;
  std::lock_guard lock(heap().mutex);
  empty_cache(*cache);
  heap().in_use_elsewhere += cache->in_use.read();
  (cache->previous ? cache->previous->following : heap().living) = cache->following;
  if (cache->following) cache->following->previous = cache->previous;
  cache->following = heap().idle;
  heap().idle = cache;
}

/// This thread's cache, made at need; null if there is no memory for it.
ThreadCache* local_cache_locked() noexcept {
  if (local) return local;
  ThreadCache* cache = heap().idle;
  void* memory = cache;
  if (cache)
    heap().idle = cache->following;
  else if (memory = heap().mapped.take(sizeof(ThreadCache)); !memory)
    return nullptr;
  cache = new (memory) ThreadCache;
  cache->following = heap().living;
  if (heap().living) heap().living->previous = cache;
  heap().living = cache;
  return local = cache;
}

[[gnu::noinline]] void* allocate_slowly(std::size_t bytes, int size_class) {
  std::unique_lock lock(heap().mutex);
  ThreadCache* cache = local_cache_locked();
  if (!cache) throw_exhausted(bytes);
  ThreadCache::Bin& bin = cache->bins[size_class];
  bin.count = heap().spans.take(size_class, bin.blocks, std::max(bin.capacity / 2, 1));
  if (!bin.count) throw_exhausted(bytes);
  // Fresh blocks lie in rising order: handing out the lowest first touches memory in the order the system likes.
  std::reverse(bin.blocks, bin.blocks + bin.count);
  cache->in_use.add(static_cast<std::int64_t>(bytes));
  void* block = bin.blocks[--bin.count];
  lock.unlock();
  call_at_thread_exit(exit_hook);
  return block;
}

[[gnu::noinline]] void deallocate_slowly(void* block, std::size_t bytes, int size_class) noexcept {
  {
    std::lock_guard lock(heap().mutex);
    ThreadCache* cache = local_cache_locked();
    if (!cache) {
      heap().in_use_elsewhere -= static_cast<std::int64_t>(bytes);
      return heap().spans.give_back(size_class, &block, 1);
    }
    ThreadCache::Bin& bin = cache->bins[size_class];
    if (bin.count == bin.capacity) empty_bin(bin, size_class, bin.capacity / 2);
    bin.blocks[bin.count++] = block;
    cache->in_use.add(-static_cast<std::int64_t>(bytes));
  }
  call_at_thread_exit(exit_hook);
}

[[gnu::noinline]] void* allocate_large(std::size_t bytes) {
  if (bytes > kSizeLimit) throw_exhausted(bytes);
  std::unique_lock lock(heap().mutex);
  void* block = heap().mapped.take(bytes);
  if (!block) {
    lock.unlock();
    throw_exhausted(bytes);
  }
  heap().in_use_elsewhere += static_cast<std::int64_t>(bytes);
  return block;
}

[[gnu::noinline]] void deallocate_large(void* block, std::size_t bytes) noexcept {
  std::lock_guard lock(heap().mutex);
  heap().mapped.give_back(block, bytes);
  heap().in_use_elsewhere -= static_cast<std::int64_t>(bytes);
}

bool is_anything_in_use() noexcept {
  std::int64_t bytes = heap().in_use();
  for (const PartsPool* pool = heap().pools; pool; pool = pool->next) {
    if (pool->parts_in_use() != 0) return true;
    bytes -= static_cast<std::int64_t>(pool->bytes);
  }
  return bytes != 0;
}

void give_back_caches(ThreadCache* cache) noexcept {
  while (cache) heap().mapped.give_back(std::exchange(cache, cache->following), sizeof(ThreadCache));
}

struct Lifetime {
  Lifetime() {
    pthread_atfork([] { heap().mutex.lock(); }, [] { heap().mutex.unlock(); }, [] { heap().mutex.unlock(); });
  }
  // At the end of the process other threads may be at work, and the system takes the memory anyway.
  ~Lifetime() {
    if (is_process_ending() || is_anything_in_use()) return;
    heap().spans.unmap_all();
    give_back_caches(heap().living);
    give_back_caches(heap().idle);
    heap().mapped.trim();
  }
};
// Made before all objects that ask `is_process_ending`'s question later, hence destroyed after its answer is known.
[[gnu::init_priority(200)]] const Lifetime lifetime;

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes > kSmallLimit) [[unlikely]]
    return allocate_large(bytes);
  const int size_class = class_of(bytes);
  ThreadCache* cache = local;
  if (!cache || !cache->bins[size_class].count) [[unlikely]]
    return allocate_slowly(bytes, size_class);
  cache->in_use.add(static_cast<std::int64_t>(bytes));
  ThreadCache::Bin& bin = cache->bins[size_class];
  return bin.blocks[--bin.count];
}

void deallocate(void* block, std::size_t bytes) noexcept {
  if (bytes > kSmallLimit) [[unlikely]]
    return deallocate_large(block, bytes);
  const int size_class = class_of(bytes);
  ThreadCache* cache = local;
  if (!cache || cache->bins[size_class].count == cache->bins[size_class].capacity) [[unlikely]]
    return deallocate_slowly(block, bytes, size_class);
  cache->in_use.add(-static_cast<std::int64_t>(bytes));
  ThreadCache::Bin& bin = cache->bins[size_class];
  bin.blocks[bin.count++] = block;
}

Statistics statistics() {
  std::lock_guard lock(heap().mutex);
  return {.bytes_in_use = static_cast<std::uint64_t>(heap().in_use()),
          .bytes_from_system = heap().mapped.bytes_mapped() + heap().spans.metadata_bytes(),
          .system_calls = heap().mapped.system_calls()};
}

void trim() noexcept {
  std::lock_guard lock(heap().mutex);
  if (local) empty_cache(*local);
  heap().mapped.trim();
}

void* allocate_for(PartsPool& pool, std::size_t bytes) {
  void* block = allocate(bytes);
  std::lock_guard lock(heap().mutex);
  if (pool.bytes == 0) {
    pool.next = heap().pools;
    heap().pools = &pool;
  }
  pool.bytes += bytes;
  return block;
}

}  // namespace capstan::memory

#endif
