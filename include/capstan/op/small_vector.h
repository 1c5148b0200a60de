// A vector whose first elements stand inside the object, so that short lists cost no allocation.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace capstan {

template <class T, std::size_t kInline>
class SmallVector {
 public:
  SmallVector() noexcept = default;
  explicit SmallVector(std::size_t count) { resize(count); }
  SmallVector(std::initializer_list<T> values) {
    reserve(values.size());
    for (const T& value : values) push_back(value);
  }
  SmallVector(const SmallVector& other) {
    reserve(other.size_);
    for (const T& value : other) push_back(value);
  }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(SmallVector other) noexcept {
    clear_all();
    take(other);
    return *this;
  }
  ~SmallVector() { clear_all(); }

  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }
  operator std::span<T>() noexcept { return {data_, size_}; }
  operator std::span<const T>() const noexcept { return {data_, size_}; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) reserve(2 * capacity_);
    return *new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void pop_back() noexcept { data_[--size_].~T(); }
  void resize(std::size_t count) {
    reserve(count);
    while (size_ < count) emplace_back();
    while (size_ > count) pop_back();
  }
  void clear() noexcept { resize(0); }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* grown = static_cast<T*>(::operator new (capacity * sizeof(T), std::align_val_t{alignof(T)}));
    std::uninitialized_move_n(data_, size_, grown);
    std::destroy_n(data_, size_);
    free_heap();
    data_ = grown;
    capacity_ = capacity;
  }

 private:
  bool is_inline() const noexcept { return data_ == reinterpret_cast<const T*>(storage_); }
  void free_heap() noexcept {
    if (!is_inline()) ::operator delete (data_, std::align_val_t{alignof(T)});
  }
  void clear_all() noexcept {
    std::destroy_n(data_, size_);
    free_heap();
    data_ = reinterpret_cast<T*>(storage_);
    size_ = 0;
    capacity_ = kInline;
  }
  void take(SmallVector& other) noexcept {
    if (other.is_inline()) {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear_all();
      return;
    }
    data_ = std::exchange(other.data_, reinterpret_cast<T*>(other.storage_));
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInline);
  }

  alignas(T) std::byte storage_[kInline * sizeof(T)];
  T* data_ = reinterpret_cast<T*>(storage_);
  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
};

}  // namespace capstan
