// The one memory pool behind all tensors. Memory is 64-byte aligned and not zeroed. Blocks come back to caches by size
// class, so that a program in a steady state asks nothing of the system.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capstan::memory {

inline constexpr std::size_t kAlignment = 64;

/// At least `bytes` bytes; throws ResourceExhausted if the system has no more. `allocate(0)` gives a valid address.
void* allocate(std::size_t bytes);
/// Gives back what `allocate(bytes)` returned, with the same number. From any thread.
void deallocate(void* block, std::size_t bytes) noexcept;

struct Statistics {
  std::uint64_t bytes_in_use = 0;       // handed out and not given back
  std::uint64_t bytes_from_system = 0;  // mapped now, in use or cached
  std::uint64_t system_calls = 0;       // times the system was asked for memory since the start
};
Statistics statistics();

/// Returns cached memory that nobody uses to the system.
void trim() noexcept;

}  // namespace capstan::memory
