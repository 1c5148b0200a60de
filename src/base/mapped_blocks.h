// Blocks of memory that come straight from the system, 2 MiB-aligned and on huge pages where the system has them, and a
// cache of those that are not in use. Not synchronized: the caller holds a lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/size_classes.h"

namespace capstan::memory {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

class MappedBlocks {
 public:
  /// A block of at least `bytes`; null if the system has no more, even after the cache was given back.
  void* take(std::size_t bytes) noexcept;
  /// Puts a block into the cache. While the cache holds more than 256 MiB and more than all blocks in use together, the
  /// blocks that were given back first go to the system.
  void give_back(void* block, std::size_t bytes) noexcept;
  /// Returns the cache to the system.
  void trim() noexcept;

  std::uint64_t bytes_mapped() const noexcept { return in_use_ + cached_; }
  std::uint64_t system_calls() const noexcept { return system_calls_; }

 private:
  // Stands in the first bytes of a cached block.
  struct Cached {
    std::size_t bytes;
    Cached *newer, *older;         // among all
    Cached *previous, *following;  // among those of its class
  };
  void link(Cached* block) noexcept;
  void unlink(Cached* block) noexcept;
  void unmap(Cached* block) noexcept;
  void* map(std::size_t bytes) noexcept;

  Cached* of_class_[kClasses] = {};
  Cached* newest_ = nullptr;
  Cached* oldest_ = nullptr;
  std::uint64_t in_use_ = 0;
  std::uint64_t cached_ = 0;
  std::uint64_t system_calls_ = 0;
};

}  // namespace capstan::memory
