// The one thread pool. Kernels cut their work into blocks whose size does not depend on the number of threads, so the
// result has the same bits for any number; the pool hands the blocks out one by one.
//
//   parallel_for(block_count, [&](std::int64_t block) { fill(block * kBlock, ...); });
//
// Fork: a child process starts with no workers and starts its own when it needs them. A child that was forked while
// another thread of the parent was inside a region must not use tensors that this region was writing.
// Exit: a process may end at any time, with workers asleep or with a region running. Unloading the library joins the
// workers; no thread may be inside the library then, as for any library.
#pragma once

#include <cstdint>
#include <type_traits>

#include "capstan/base/threads.h"

namespace capstan {

namespace detail {

using BlockFunction = void (*)(void* context, std::int64_t block);

/// Runs the blocks on the pool; false, with nothing done, if the caller has to run them alone.
bool run_on_pool(std::int64_t blocks, BlockFunction call, void* context);

}  // namespace detail

/// Calls `body(block)` once for each block from 0 to `blocks - 1`, in any order, on the caller and on workers, and
/// returns when all have ended. Runs on the caller alone, in order, if there is one block or one thread, inside another
/// region, or while the pool serves another caller. If a block throws, blocks that have not begun are dropped and the
/// first exception is thrown to the caller once the running ones have ended. Allocates nothing.
template <class Body>
void parallel_for(std::int64_t blocks, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  if (blocks > 1) {
    void* context = const_cast<void*>(static_cast<const void*>(&body));
    if (detail::run_on_pool(
            blocks, [](void* c, std::int64_t block) { (*static_cast<Plain*>(c))(block); }, context))
      return;
  }
  for (std::int64_t block = 0; block < blocks; ++block) body(block);
}

/// Worker threads that exist now.
int worker_count();

}  // namespace capstan
