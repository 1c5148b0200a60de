#include "base/mapped_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace capstan::memory {
namespace {

constexpr std::uint64_t kCacheAlwaysAllowed = std::uint64_t{256} << 20;

}  // namespace

void* MappedBlocks::take(std::size_t bytes) noexcept {
  const int index = class_of(bytes);
  const std::size_t size = class_size(index);
  void* block = of_class_[index];
  if (block) {
    unlink(of_class_[index]);
  } else if (block = map(size); !block) {
    trim();
    block = map(size);
  }
  if (block) in_use_ += size;
  return block;
}

void MappedBlocks::give_back(void* block, std::size_t bytes) noexcept {
  const std::size_t size = class_size(class_of(bytes));
  in_use_ -= size;
  link(new (block) Cached{size, nullptr, nullptr, nullptr, nullptr});
  while (cached_ > std::max(kCacheAlwaysAllowed, in_use_)) unmap(oldest_);
}

void MappedBlocks::trim() noexcept {
  while (oldest_) unmap(oldest_);
}

void MappedBlocks::link(Cached* block) noexcept {
  Cached*& first = of_class_[class_of(block->bytes)];
  block->following = first;
  if (first) first->previous = block;
  first = block;
  block->older = newest_;
  (newest_ ? newest_->newer : oldest_) = block;
  newest_ = block;
  cached_ += block->bytes;
}

void MappedBlocks::unlink(Cached* block) noexcept {
  (block->previous ? block->previous->following : of_class_[class_of(block->bytes)]) = block->following;
  if (block->following) block->following->previous = block->previous;
  (block->older ? block->older->newer : oldest_) = block->newer;
  (block->newer ? block->newer->older : newest_) = block->older;
  cached_ -= block->bytes;
}

void MappedBlocks::unmap(Cached* block) noexcept {
  unlink(block);
  munmap(block, block->bytes);
}

void* MappedBlocks::map(std::size_t bytes) noexcept {
  ++system_calls_;
  // The system aligns to 4 KiB: ask for more and cut both ends off.
  const std::size_t asked = bytes + kHugePage;
  void* mapping = mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapping);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  if (before) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace capstan::memory
