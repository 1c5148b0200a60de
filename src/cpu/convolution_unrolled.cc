// Convolutions as matrix products: the windows of an image become the rows of a matrix [out pixels, window · channels],
// some pixels at a time, as the whole matrix is larger than the image by the size of a window.
#include <algorithm>
#include <cstring>

#include "cpu/convolution.h"
#include "cpu/gemm.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace capstan::cpu {
namespace {

/// A run of output pixels of one image, as rows of the matrix.
struct Pixels {
  std::int64_t begin, end;
  std::int64_t count() const { return end - begin; }
};

/// One image and one group at a time.
template <class T>
class Unrolled {
 public:
  explicit Unrolled(const ConvolutionSizes& s)
      : s_(s), depth_(s.in_channels / s.groups), wide_(s.out_channels / s.groups) {}

  std::int64_t pixels() const { return s_.height.out * s_.width.out; }
  std::int64_t row() const { return s_.height.size * s_.width.size * depth_; }
  std::int64_t depth() const { return depth_; }
  std::int64_t wide() const { return wide_; }
  std::int64_t image_size() const { return s_.height.in * s_.width.in * s_.in_channels; }
  std::int64_t output_size() const { return pixels() * s_.out_channels; }

  /// Pixels that are unrolled together: their rows have at most `kElements` elements, if one has not more.
  std::int64_t step() const {
    constexpr std::int64_t kElements = std::int64_t{1} << 18;
    return std::clamp<std::int64_t>(kElements / std::max<std::int64_t>(row(), 1), 1,
                                    std::max<std::int64_t>(pixels(), 1));
  }
  template <class Body>
  void for_steps(Body&& body) const {
    for (std::int64_t begin = 0; begin < pixels(); begin += step())
      body(Pixels{begin, std::min(pixels(), begin + step())});
  }

  /// Calls `body(window's part of a row, image's pixel)` for each pair; with null for pixels in the padding.
  template <class Image, class Body>
  void for_windows(Pixels run, Image* image, T* rows, Body&& body) const {
    for (std::int64_t pixel = run.begin; pixel < run.end; ++pixel) {
      const std::int64_t y = pixel / s_.width.out, x = pixel % s_.width.out;
      for (std::int64_t i = 0; i < s_.height.size; ++i) {
        const std::int64_t in_y = y * s_.height.stride - s_.height.before + i * s_.height.dilation;
        for (std::int64_t j = 0; j < s_.width.size; ++j, rows += depth_) {
          const std::int64_t in_x = x * s_.width.stride - s_.width.before + j * s_.width.dilation;
          const bool is_inside = in_y >= 0 && in_y < s_.height.in && in_x >= 0 && in_x < s_.width.in;
          body(rows, is_inside ? image + (in_y * s_.width.in + in_x) * s_.in_channels : nullptr);
        }
      }
    }
  }
  void unroll(Pixels run, const T* image, T* rows) const {
    for_windows(run, image, rows, [&](T* to, const T* from) {
      if (from)
        std::copy_n(from, depth_, to);
      else
        std::fill_n(to, depth_, T(0));
    });
  }
  void roll_back(Pixels run, T* rows, T* image) const {
    for_windows(run, image, rows, [&](const T* from, T* to) {
      if (!to) return;
      for (std::int64_t c = 0; c < depth_; ++c) to[c] = add(to[c], from[c]);
    });
  }
  static T add(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    else
      return a + b;
  }

  /// Columns of one group out of `count` rows of all, and back.
  void take_group(const T* all, std::int64_t group, std::int64_t count, T* to) const {
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(all + i * s_.out_channels + group * wide_, wide_, to + i * wide_);
  }
  void put_group(const T* from, std::int64_t group, std::int64_t count, T* all) const {
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(from + i * wide_, wide_, all + i * s_.out_channels + group * wide_);
  }
  void add_group(const T* from, std::int64_t group, std::int64_t count, T* all) const {
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < wide_; ++j) {
        T& to = all[i * s_.out_channels + group * wide_ + j];
        to = add(to, from[i * wide_ + j]);
      }
  }

 private:
  const ConvolutionSizes& s_;
  std::int64_t depth_, wide_;  // channels of a group
};

/// Working memory for the pixels of one step: their rows, and one group's columns of the output.
template <class T>
struct StepMemory {
  explicit StepMemory(const Unrolled<T>& u, const ConvolutionSizes& s)
      : rows(static_cast<std::size_t>(u.step() * u.row())),
        part(s.groups == 1 ? 0 : static_cast<std::size_t>(u.step() * u.wide())) {}
  Scratch<T> rows, part;
};

template <class T>
void forward_image(const Unrolled<T>& u, const ConvolutionSizes& s, const T* image, const T* filters, T* output) {
  const StepMemory<T> memory(u, s);
  u.for_steps([&](Pixels run) {
    T* to = output + run.begin * s.out_channels;
    for (std::int64_t g = 0; g < s.groups; ++g) {
      u.unroll(run, image + g * u.depth(), memory.rows.data());
      multiply(Product{run.count(), u.wide(), u.row()}, memory.rows.data(), filters + g * u.row() * u.wide(),
               s.groups == 1 ? to : memory.part.data());
      if (s.groups > 1) u.put_group(memory.part.data(), g, run.count(), to);
    }
  });
}

template <class T>
void backprop_image(const Unrolled<T>& u, const ConvolutionSizes& s, T* image, const T* filters, const T* output) {
  const StepMemory<T> memory(u, s);
  std::fill_n(image, u.image_size(), T(0));
  u.for_steps([&](Pixels run) {
    const T* from = output + run.begin * s.out_channels;
    for (std::int64_t g = 0; g < s.groups; ++g) {
      if (s.groups > 1) u.take_group(from, g, run.count(), memory.part.data());
      multiply(Product{run.count(), u.row(), u.wide(), false, true}, s.groups == 1 ? from : memory.part.data(),
               filters + g * u.row() * u.wide(), memory.rows.data());
      u.roll_back(run, memory.rows.data(), image + g * u.depth());
    }
  });
}

/// Adds the image's share to `filter`, which has all groups side by side.
template <class T>
void backprop_filter_image(const Unrolled<T>& u, const ConvolutionSizes& s, const T* image, T* filter,
                           const T* output) {
  const StepMemory<T> memory(u, s);
  const Scratch<T> share(static_cast<std::size_t>(u.row() * u.wide()));
  u.for_steps([&](Pixels run) {
    const T* from = output + run.begin * s.out_channels;
    for (std::int64_t g = 0; g < s.groups; ++g) {
      u.unroll(run, image + g * u.depth(), memory.rows.data());
      if (s.groups > 1) u.take_group(from, g, run.count(), memory.part.data());
      multiply(Product{u.row(), u.wide(), run.count(), true, false}, memory.rows.data(),
               s.groups == 1 ? from : memory.part.data(), share.data());
      u.add_group(share.data(), g, u.row(), filter);
    }
  });
}

/// The filter's groups one behind the other, each as a matrix [window · channels, out channels of the group].
template <class T>
Scratch<T> grouped_filter(const Unrolled<T>& u, const ConvolutionSizes& s, const T* filter) {
  Scratch<T> grouped(static_cast<std::size_t>(u.row() * s.out_channels));
  for (std::int64_t g = 0; g < s.groups; ++g) u.take_group(filter, g, u.row(), grouped.data() + g * u.row() * u.wide());
  return grouped;
}

template <class T>
void backprop_filter_all(const Unrolled<T>& u, const ConvolutionSizes& s, const ConvolutionArrays<T>& a) {
  constexpr std::int64_t kShares = 8;
  const std::int64_t size = u.row() * s.out_channels, images = (s.batch + kShares - 1) / kShares;
  const std::int64_t shares = (s.batch + images - 1) / images;
  const Scratch<T> sums(static_cast<std::size_t>(size * shares));
  for_blocks(s.batch, images, [&](std::int64_t begin, std::int64_t end) {
    T* sum = sums.data() + begin / images * size;
    std::fill_n(sum, size, T(0));
    for (std::int64_t i = begin; i < end; ++i)
      backprop_filter_image(u, s, a.input + i * u.image_size(), sum, a.output + i * u.output_size());
  });
  std::copy_n(sums.data(), size, a.filter);
  for (std::int64_t k = 1; k < shares; ++k)
    for (std::int64_t i = 0; i < size; ++i) a.filter[i] = Unrolled<T>::add(a.filter[i], sums.data()[k * size + i]);
}

}  // namespace

template <class T>
void convolve_unrolled(ConvolutionKind kind, const ConvolutionSizes& s, const ConvolutionArrays<T>& a) {
  const Unrolled<T> u(s);
  if (kind == ConvolutionKind::backprop_filter) return backprop_filter_all(u, s, a);
  const Scratch<T> filters = grouped_filter(u, s, a.filter);
  for_blocks(s.batch, 1, [&](std::int64_t i, std::int64_t) {
    if (kind == ConvolutionKind::forward)
      forward_image(u, s, a.input + i * u.image_size(), filters.data(), a.output + i * u.output_size());
    else
      backprop_image(u, s, a.input + i * u.image_size(), filters.data(), a.output + i * u.output_size());
  });
}

template void convolve_unrolled(ConvolutionKind, const ConvolutionSizes&, const ConvolutionArrays<float>&);
template void convolve_unrolled(ConvolutionKind, const ConvolutionSizes&, const ConvolutionArrays<double>&);
template void convolve_unrolled(ConvolutionKind, const ConvolutionSizes&, const ConvolutionArrays<std::int32_t>&);

}  // namespace capstan::cpu
