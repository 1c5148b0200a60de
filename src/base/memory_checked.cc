// The memory pool of builds with a sanitizer: each block comes from the C++ library, which the sanitizer watches.
#include "base/memory.h"

#if CAPSTAN_POOLS_OFF

#include <atomic>
#include <new>
#include <string>

#include "capstan/base/error.h"

namespace capstan::memory {
namespace {

// The sanitizers end the program for a request above a terabyte.
constexpr std::size_t kLargestBlock = std::size_t{1} << 36;

std::atomic<std::int64_t> in_use{0};
std::atomic<std::uint64_t> calls{0};

}  // namespace

void* allocate(std::size_t bytes) {
  void* block = nullptr;
  if (bytes <= kLargestBlock) block = ::operator new (bytes ? bytes : 1, std::align_val_t{kAlignment}, std::nothrow);
  if (!block)
    throw ResourceExhausted("out of memory: the system did not give a block of " + std::to_string(bytes) + " bytes");
  in_use += static_cast<std::int64_t>(bytes);
  ++calls;
  return block;
}

void deallocate(void* block, std::size_t bytes) noexcept {
  in_use -= static_cast<std::int64_t>(bytes);
  ::operator delete (block, std::align_val_t{kAlignment});
}

Statistics statistics() {
  const auto bytes = static_cast<std::uint64_t>(in_use.load());
  return {.bytes_in_use = bytes, .bytes_from_system = bytes, .system_calls = calls};
}

void trim() noexcept {}

void* allocate_for(PartsPool& pool, std::size_t bytes) {
  pool.bytes += bytes;
  return allocate(bytes);
}

}  // namespace capstan::memory

#endif
