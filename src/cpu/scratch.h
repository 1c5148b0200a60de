// Working memory of a kernel, from the pool: uninitialized elements of a plain type.
#pragma once

#include <cstddef>
#include <utility>

#include "base/memory.h"

namespace capstan::cpu {

template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t count) : bytes_(count * sizeof(T)), data_(static_cast<T*>(memory::allocate(bytes_))) {}
  Scratch(Scratch&& other) noexcept : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (data_) memory::deallocate(data_, bytes_);
  }

  T* data() const noexcept { return data_; }

 private:
  std::size_t bytes_;
  T* data_;
};

}  // namespace capstan::cpu
