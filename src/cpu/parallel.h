// How kernels cut their work: into blocks of a fixed size that does not depend on the number of threads, so that results
// have the same bits for any number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace capstan::cpu {

/// Elements of cheap work (a few operations each) that are worth handing to another thread.
inline constexpr std::int64_t kElementsPerBlock = 32 * 1024;

/// Calls `body(begin, end)` for consecutive ranges of at most `block` items that cover [0, count).
template <class Body>
void for_blocks(std::int64_t count, std::int64_t block, Body&& body) {
  for (std::int64_t begin = 0; begin < count; begin += block) body(begin, std::min(begin + block, count));
}

}  // namespace capstan::cpu
