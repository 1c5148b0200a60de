#include "base/span_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace capstan::memory {

int SpanHeap::take(int size_class, void** blocks, int wanted) noexcept {
  int count = 0;
  while (count < wanted) {
    Span* span = with_block_[size_class];
    // One fresh span at most: what is in hand serves the caller.
    if (!span && (count > 0 || !(span = new_span(size_class)))) break;
    blocks[count++] = take_one(*span);
    if (!has_block(*span)) unlink(size_class, *span);
  }
  return count;
}

void SpanHeap::give_back(int size_class, void* const* blocks, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    Slab& slab = **slab_entry(blocks[i], false);
    const auto page = static_cast<std::size_t>(static_cast<std::byte*>(blocks[i]) - slab.begin) / kPage;
    Span& span = slab.spans[slab.span_of_page[page]];
    if (!has_block(span)) link(size_class, span);
    span.free = new (blocks[i]) FreeBlock{span.free};
    if (--span.used > 0) continue;
    unlink(size_class, span);
    free_span(slab, span);
  }
}

void* SpanHeap::take_one(Span& span) noexcept {
  ++span.used;
  if (!span.free) return span.begin + std::size_t{span.cut++} * span.size;
  FreeBlock* block = span.free;
  span.free = block->next;
  return block;
}

// At least four pages, so that small blocks come in good numbers; more where the rest at the end would be large.
int SpanHeap::span_pages(std::size_t size) noexcept {
  if (size % kPage == 0) return static_cast<int>(std::max<std::size_t>(size / kPage, 1));
  int pages = 4;
  while (pages * kPage < size || pages * kPage % size > pages * kPage / 16) ++pages;
  return pages;
}

SpanHeap::Span* SpanHeap::new_span(int size_class) noexcept {
  const std::size_t size = class_size(size_class);
  const int pages = span_pages(size);
  Slab* slab = slab_with_room(pages);
  if (!slab) return nullptr;
  unfile_slab(*slab);
  const int first = find_row(~slab->used, pages);
  slab->used |= ((PageSet{1} << pages) - 1) << first;
  std::fill_n(slab->span_of_page + first, pages, static_cast<std::uint8_t>(first));
  file_slab(*slab);
  Span& span = slab->spans[first];
  span = {.previous = nullptr,
          .following = nullptr,
          .free = nullptr,
          .begin = slab->begin + static_cast<std::size_t>(first) * kPage,
          .size = static_cast<std::uint32_t>(size),
          .capacity = static_cast<std::uint32_t>(static_cast<std::size_t>(pages) * kPage / size),
          .cut = 0,
          .used = 0,
          .first_page = static_cast<std::uint8_t>(first),
          .pages = static_cast<std::uint8_t>(pages)};
  link(size_class, span);
  return &span;
}

void SpanHeap::free_span(Slab& slab, Span& span) noexcept {
  unfile_slab(slab);
  slab.used &= ~(((PageSet{1} << span.pages) - 1) << span.first_page);
  if (slab.used)
    file_slab(slab);
  else
    free_slab(&slab);
}

SpanHeap::Slab* SpanHeap::slab_with_room(int pages) noexcept {
  for (int row = pages; row <= kLongestSpan; ++row)
    if (by_row_[row]) return by_row_[row];
  return new_slab();
}

SpanHeap::Slab* SpanHeap::new_slab() noexcept {
  Slab* slab = unused_records_;
  if (slab)
    unused_records_ = slab->following;
  else if (!(slab = static_cast<Slab*>(new_metadata(sizeof(Slab)))))
    return nullptr;
  void* memory = source_.take(kHugePage);
  Slab** entry = memory ? slab_entry(memory, true) : nullptr;
  if (!entry) {
    if (memory) source_.give_back(memory, kHugePage);
    slab->following = unused_records_;
    unused_records_ = slab;
    return nullptr;
  }
  *entry = slab;
  slab->begin = static_cast<std::byte*>(memory);
  slab->used = 0;
  file_slab(*slab);
  return slab;
}

void SpanHeap::free_slab(Slab* slab) noexcept {
  *slab_entry(slab->begin, false) = nullptr;
  source_.give_back(slab->begin, kHugePage);
  slab->following = unused_records_;
  unused_records_ = slab;
}

void SpanHeap::file_slab(Slab& slab) noexcept {
  slab.longest_row = longest_row(~slab.used);
  Slab*& first = by_row_[slab.longest_row];
  slab.previous = nullptr;
  slab.following = first;
  if (first) first->previous = &slab;
  first = &slab;
}

void SpanHeap::unfile_slab(Slab& slab) noexcept {
  (slab.previous ? slab.previous->following : by_row_[slab.longest_row]) = slab.following;
  if (slab.following) slab.following->previous = slab.previous;
}

void SpanHeap::link(int size_class, Span& span) noexcept {
  Span*& first = with_block_[size_class];
  span.previous = nullptr;
  span.following = first;
  if (first) first->previous = &span;
  first = &span;
}

void SpanHeap::unlink(int size_class, Span& span) noexcept {
  (span.previous ? span.previous->following : with_block_[size_class]) = span.following;
  if (span.following) span.following->previous = span.previous;
}

int SpanHeap::longest_row(PageSet free) noexcept {
  int row = 0;
  for (; free && row < kLongestSpan; ++row) free &= free >> 1;
  return row;
}

// Where a row of `pages` free pages begins; there is one.
int SpanHeap::find_row(PageSet free, int pages) noexcept {
  for (int have = 1; have < pages;) {
    const int step = std::min(have, pages - have);
    free &= free >> step;
    have += step;
  }
  const auto low = static_cast<std::uint64_t>(free);
  return low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(free >> 64));
}

// From an address to its slab: a tree of two levels over the address bits above the slab's own. Null for an address
// that has no place in it.
SpanHeap::Slab** SpanHeap::slab_entry(const void* address, bool may_make) noexcept {
  const auto number = slab_number(reinterpret_cast<std::uintptr_t>(address));
  if (!number) return nullptr;
  Leaf*& leaf = root_[*number >> kLeafBits];
  if (!leaf && (!may_make || !(leaf = static_cast<Leaf*>(new_metadata(sizeof(Leaf)))))) return nullptr;
  return &leaf->slabs[*number & ((1u << kLeafBits) - 1)];
}

// Zeroed, never given back one by one. Taken from the system by the piece: it is needed once for 2 MiB of blocks.
void* SpanHeap::new_metadata(std::size_t bytes) noexcept {
  bytes += kSmallestStep;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  chunks_ = new (memory) Chunk{chunks_, bytes};
  metadata_bytes_ += bytes;
  return static_cast<std::byte*>(memory) + kSmallestStep;
}

void SpanHeap::unmap_all() noexcept {
  for (Leaf* leaf : root_) {
    if (!leaf) continue;
    for (Slab* slab : leaf->slabs)
      if (slab) munmap(slab->begin, kHugePage);
  }
  while (Chunk* chunk = chunks_) {
    chunks_ = chunk->next;
    munmap(chunk, chunk->bytes);
  }
}

}  // namespace capstan::memory
