// The object behind a `Tensor` handle. Not part of the interface: it stands in a public header only so that copying and
// dropping a handle can be inlined.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capstan/tensor/dtype.h"
#include "capstan/tensor/shape.h"

#if __has_include(<sys/single_threaded.h>) && !defined(__SANITIZE_THREAD__)
#include <sys/single_threaded.h>
#define CAPSTAN_SINGLE_THREADED __libc_single_threaded
#else
#define CAPSTAN_SINGLE_THREADED false
#endif

namespace capstan::detail {

/// A reference count that costs plain arithmetic as long as the process has one thread.
class RefCount {
 public:
  void add() noexcept {
    if (CAPSTAN_SINGLE_THREADED)
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
      count_.fetch_add(1, std::memory_order_relaxed);
  }
  /// True when this was the last reference.
  bool drop() noexcept {
    if (CAPSTAN_SINGLE_THREADED) {
      const std::uint32_t left = count_.load(std::memory_order_relaxed) - 1;
      count_.store(left, std::memory_order_relaxed);
      return left == 0;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool is_one() const noexcept { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<std::uint32_t> count_{1};
};

/// Memory that tensors share. `release` frees the elements and the buffer itself.
struct Buffer {
  RefCount refs;
  void* data = nullptr;
  std::size_t bytes = 0;
  void (*release)(Buffer*) noexcept = nullptr;
};

/// Who made a tensor, seen from the first tape that recorded it; see autodiff/tape.h. Set before the tensor is handed
/// out and never changed afterwards, so that threads may read it freely.
struct Producer {
  void* tape = nullptr;
  std::uint32_t entry = 0;
  std::uint32_t output = 0;
};

struct TensorRep {
  static constexpr std::size_t kInlineBytes = 64;

  RefCount refs;
  DType dtype = DType::invalid;
  bool is_symbolic = false;
  /// Some tape knows this tensor by its identity (it was watched, or a second tape recorded it).
  std::atomic<bool> is_known_by_identity{false};
  std::atomic<std::uint64_t> identity{0};  // given when first asked for
  void* data = nullptr;                    // `inline_data` or the buffer's memory
  Buffer* buffer = nullptr;
  std::int64_t size = 0;  // number of elements
  Shape shape;
  Producer producer;
  alignas(64) std::byte inline_data[kInlineBytes];
};

/// Frees a tensor object whose last handle is gone.
void destroy(TensorRep* rep) noexcept;

}  // namespace capstan::detail
