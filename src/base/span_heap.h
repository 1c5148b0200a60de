// Blocks of up to 1 MiB, cut from 2 MiB slabs. A slab has 128 pages; a span is a row of pages with blocks of one size.
// A span whose blocks are all back frees its pages for any size, and an empty slab goes back to the mapped blocks.
// Fresh blocks are not touched before they are handed out. Not synchronized: the caller holds a lock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/mapped_blocks.h"
#include "base/size_classes.h"

namespace capstan::memory {

class SpanHeap {
 public:
  explicit constexpr SpanHeap(MappedBlocks& source) noexcept : source_(source) {}
  /// Writes up to `wanted` blocks of a class to `blocks` and returns how many there were; 0: no memory.
  int take(int size_class, void** blocks, int wanted) noexcept;
  void give_back(int size_class, void* const* blocks, int count) noexcept;
  /// Returns every slab to the system, used or not, and forgets all.
  void unmap_all() noexcept;
  std::uint64_t metadata_bytes() const noexcept { return metadata_bytes_; }
  /// Which slab of the address space that is; none where there is no place for it in the tables.
  static constexpr std::optional<std::size_t> slab_number(std::uintptr_t address) noexcept {
    if (address >> kAddressBits) return std::nullopt;
    return address / kHugePage;
  }

 private:
  static constexpr int kPages = 128;
  static constexpr std::size_t kPage = kHugePage / kPages;
  static constexpr int kLongestSpan = kSmallLimit / kPage;
  // 48 bits of address (x86-64 uses 47 of them, AArch64 all), less the 21 inside a slab.
  static constexpr int kAddressBits = 48, kLeafBits = 13;
  static constexpr int kRootBits = kAddressBits - std::countr_zero(kHugePage) - kLeafBits;
  using PageSet = unsigned __int128;

  struct FreeBlock {
    FreeBlock* next;
  };
  struct Span {
    Span *previous, *following;  // among the spans of its class that have a block to give
    FreeBlock* free;
    std::byte* begin;
    std::uint32_t size, capacity, cut, used;  // cut: blocks that were ever handed out
    std::uint8_t first_page, pages;
  };
  struct Slab {
    Slab *previous, *following;  // among the slabs with the same longest row of free pages
    std::byte* begin;
    PageSet used;
    int longest_row;
    std::uint8_t span_of_page[kPages];  // its first page
    Span spans[kPages];                 // by first page
  };
  struct Leaf {
    Slab* slabs[1 << kLeafBits];
  };
  struct Chunk {  // of metadata
    Chunk* next;
    std::size_t bytes;
  };

  static int span_pages(std::size_t size) noexcept;
  static int longest_row(PageSet free) noexcept;
  static int find_row(PageSet free, int pages) noexcept;

  void* take_one(Span& span) noexcept;
  Span* new_span(int size_class) noexcept;
  void free_span(Slab& slab, Span& span) noexcept;
  Slab* slab_with_room(int pages) noexcept;
  Slab* new_slab() noexcept;
  void free_slab(Slab* slab) noexcept;
  void file_slab(Slab& slab) noexcept;
  void unfile_slab(Slab& slab) noexcept;
  Slab** slab_entry(const void* address, bool may_make) noexcept;
  void* new_metadata(std::size_t bytes) noexcept;
  static bool has_block(const Span& span) noexcept { return span.free || span.cut < span.capacity; }
  void link(int size_class, Span& span) noexcept;
  void unlink(int size_class, Span& span) noexcept;

  MappedBlocks& source_;
  Span* with_block_[kSmallClasses] = {};
  Slab* by_row_[kLongestSpan + 1] = {};  // longer rows count as the longest
  Slab* unused_records_ = nullptr;
  Leaf* root_[1 << kRootBits] = {};
  Chunk* chunks_ = nullptr;
  std::uint64_t metadata_bytes_ = 0;
};

}  // namespace capstan::memory
