// How kernels cut their work: into blocks of a fixed size that does not depend on the number of threads, so that
// results have the same bits for any number.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"

namespace capstan::cpu {

/// Elements of cheap work (a few operations each) that are worth handing to another thread.
inline constexpr std::int64_t kElementsPerBlock = 32 * 1024;

/// Calls `body(begin, end)` for consecutive ranges of at most `block` items that cover [0, count), on the thread pool.
template <class Body>
void for_blocks(std::int64_t count, std::int64_t block, Body&& body) {
  if (count <= block) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  parallel_for((count + block - 1) / block, [&](std::int64_t i) { body(i * block, std::min((i + 1) * block, count)); });
}

}  // namespace capstan::cpu
