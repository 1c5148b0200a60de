#include "base/memory.h"

#include <new>

#include "capstan/base/error.h"

namespace capstan::memory {

void* allocate(std::size_t bytes) {
  void* block = ::operator new(bytes ? bytes : 1, std::align_val_t{kAlignment}, std::nothrow);
  if (!block) throw ResourceExhausted("out of memory allocating " + std::to_string(bytes) + " bytes");
  return block;
}

void deallocate(void* block, std::size_t) noexcept { ::operator delete(block, std::align_val_t{kAlignment}); }

Statistics statistics() { return {}; }
void trim() noexcept {}

}  // namespace capstan::memory
