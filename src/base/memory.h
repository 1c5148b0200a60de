// The one memory pool behind all tensors. Memory is 64-byte aligned and not zeroed. Blocks come back to caches by size
// class, so that a program in a steady state asks nothing of the system.
//
// Up to 1 MiB, blocks are cut from 2 MiB slabs and each thread keeps a few of every size it uses: at most 256 KiB or
// two blocks, and 128 blocks. Larger ones are mapped one by one; those given back are kept for the next request of
// their size class, up to 256 MiB in all or as much as is in use, whichever is more. Builds with AddressSanitizer or
// ThreadSanitizer take each block from the C++ library, so that these tools see every wrong access.
//
// When the library is unloaded, all memory goes back to the system if nobody uses any of it. After a fork, both
// processes may go on using the pool.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAPSTAN_POOLS_OFF 1
#else
#define CAPSTAN_POOLS_OFF 0
#endif

namespace capstan::memory {

inline constexpr std::size_t kAlignment = 64;

/// At least `bytes` bytes; throws ResourceExhausted if the system has no more. `allocate(0)` gives a valid address.
void* allocate(std::size_t bytes);
/// Gives back what `allocate(bytes)` returned, with the same number. From any thread.
void deallocate(void* block, std::size_t bytes) noexcept;

struct Statistics {
  std::uint64_t bytes_in_use = 0;       // asked for and not given back
  std::uint64_t bytes_from_system = 0;  // mapped now, in use or cached
  std::uint64_t system_calls = 0;       // times the system was asked for memory since the start
};
/// Takes a lock and looks at each thread's counter.
Statistics statistics();

/// Returns cached memory that nobody uses to the system; what other threads keep for themselves stays with them.
void trim() noexcept;

/// Something that takes memory for good and hands parts of it out: its memory counts as used only while parts are out.
struct PartsPool {
  std::int64_t (*parts_in_use)() noexcept;
  std::uint64_t bytes = 0;
  PartsPool* next = nullptr;
};
/// Memory for such a pool, never given back.
void* allocate_for(PartsPool& pool, std::size_t bytes);

}  // namespace capstan::memory
