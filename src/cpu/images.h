// Images that a kernel wants as NHWC, whatever their layout is.
#pragma once

#include <type_traits>

#include "capstan/tensor/dtype.h"
#include "cpu/arithmetic.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"
#include "cpu/strided.h"

namespace capstan::cpu {

/// Each of `batch` matrices [rows, columns] transposed.
template <class T>
void swap_channels(const T* from, T* to, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  const std::int64_t size = rows * columns;
  for_blocks(batch, 1, [&](std::int64_t i, std::int64_t) {
    strided_copy({{rows, columns, 1}, {columns, 1, rows}}, from + i * size, to + i * size);
  });
}

/// NHWC images over an array: the array itself, or for "NCHW" a copy that is read from it or written back to it.
template <class T>
class NhwcImages {
 public:
  NhwcImages(T* data, std::int64_t batch, std::int64_t pixels, std::int64_t channels, bool channels_first)
      : data_(data),
        batch_(batch),
        pixels_(pixels),
        channels_(channels),
        is_copied_(channels_first && pixels > 1 && channels > 1),
        copy_(is_copied_ ? static_cast<std::size_t>(batch * pixels * channels) : 0) {}

  T* data() const { return is_copied_ ? copy_.data() : data_; }
  void read() const {
    if (is_copied_) swap_channels<T>(data_, copy_.data(), batch_, channels_, pixels_);
  }
  void write() const {
    if (is_copied_) swap_channels<T>(copy_.data(), data_, batch_, pixels_, channels_);
  }

 private:
  T* data_;
  std::int64_t batch_, pixels_, channels_;
  bool is_copied_;
  Scratch<T> copy_;
};

template <class From, class To>
void convert(const From* from, To* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

/// An array in the type that is computed in, and images as NHWC; in place where it is that already.
template <class T>
class Images {
 public:
  using W = Accumulator<T>;
  Images(T* data, std::int64_t batch, std::int64_t pixels, std::int64_t channels, bool channels_first)
      : data_(data),
        count_(batch * pixels * channels),
        wide_(is_half<T> ? static_cast<std::size_t>(count_) : 0),
        images_(flat(), batch, pixels, channels, channels_first) {}

  W* nhwc() { return images_.data(); }
  void read() {
    if constexpr (is_half<T>) convert(data_, wide_.data(), count_);
    images_.read();
  }
  void write() {
    images_.write();
    if constexpr (is_half<T>) convert(wide_.data(), data_, count_);
  }

 private:
  W* flat() {
    if constexpr (is_half<T>)
      return wide_.data();
    else
      return data_;
  }

  T* data_;
  std::int64_t count_;
  Scratch<W> wide_;
  NhwcImages<W> images_;
};

}  // namespace capstan::cpu
