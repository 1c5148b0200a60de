// Working memory of a kernel, from the pool: uninitialized elements of a plain type.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>

#include "base/memory.h"

namespace capstan::cpu {

template <class T>
class Scratch {
 public:
  /// Throws ResourceExhausted if there is no memory.
  explicit Scratch(std::size_t count) : bytes_(bytes_of(count)), data_(static_cast<T*>(memory::allocate(bytes_))) {}
  Scratch(Scratch&& other) noexcept : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (data_) memory::deallocate(data_, bytes_);
  }

  T* data() const noexcept { return data_; }

 private:
  static std::size_t bytes_of(std::size_t count) {
    std::size_t bytes;
    return __builtin_mul_overflow(count, sizeof(T), &bytes) ? std::numeric_limits<std::size_t>::max() / 2 : bytes;
  }

  std::size_t bytes_;
  T* data_;
};

}  // namespace capstan::cpu
