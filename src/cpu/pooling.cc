// Kernels of the pools. Loops run over the channels innermost, which lie side by side.
#include <algorithm>
#include <limits>

#include "cpu/arithmetic.h"
#include "cpu/elementwise.h"
#include "cpu/images.h"
#include "cpu/tables.h"
#include "ops/nn.h"

namespace capstan::cpu {
namespace {

template <class T>
constexpr T lowest() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    return std::numeric_limits<T>::lowest();
  else
    return std::numeric_limits<T>::min();
}

/// The pixels of one window, clipped to the image.
struct Patch {
  std::int64_t y0, y1, x0, x1;
  std::int64_t count() const { return (y1 - y0) * (x1 - x0); }
};
Patch patch_of(const PoolSizes& s, std::int64_t y, std::int64_t x) {
  const std::int64_t top = y * s.height.stride - s.height.before, left = x * s.width.stride - s.width.before;
  return {std::max<std::int64_t>(top, 0), std::min(top + s.height.size, s.height.in), std::max<std::int64_t>(left, 0),
          std::min(left + s.width.size, s.width.in)};
}

/// Calls `body(patch, image, output pixel)` for each window; images are spread over the pool.
template <class Image, class Output, class Body>
void for_patches(const PoolSizes& s, Image* images, Output* outputs, Body&& body) {
  const std::int64_t image_size = s.height.in * s.width.in * s.channels,
                     output_size = s.height.out * s.width.out * s.channels;
  const std::int64_t together = std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, image_size));
  for_blocks(s.batch, together, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t y = 0; y < s.height.out; ++y)
        for (std::int64_t x = 0; x < s.width.out; ++x)
          body(patch_of(s, y, x), images + i * image_size,
               outputs + i * output_size + (y * s.width.out + x) * s.channels);
  });
}

/// Calls `body(index of the pixel's first channel)` for each pixel of a patch.
template <class Body>
void for_pixels(const PoolSizes& s, const Patch& patch, Body&& body) {
  for (std::int64_t y = patch.y0; y < patch.y1; ++y)
    for (std::int64_t x = patch.x0; x < patch.x1; ++x) body((y * s.width.in + x) * s.channels);
}

std::int64_t pixels_in(const PoolSizes& s) { return s.height.in * s.width.in; }
std::int64_t pixels_out(const PoolSizes& s) { return s.height.out * s.width.out; }

template <class T>
NhwcImages<T> input_images(const PoolSizes& s, const T* data) {
  return {const_cast<T*>(data), s.batch, pixels_in(s), s.channels, s.channels_first};
}
template <class T>
NhwcImages<T> output_images(const PoolSizes& s, const T* data) {
  return {const_cast<T*>(data), s.batch, pixels_out(s), s.channels, s.channels_first};
}

template <class T>
void max_pool_kernel(KernelContext& context) {
  const PoolSizes s = pool_sizes(context.attributes<MaxPoolAttributes>(), context.input(0).shape());
  const auto images = input_images(s, context.data<T>(0)), outputs = output_images(s, context.make_output<T>(0));
  images.read();
  for_patches(s, images.data(), outputs.data(), [&](const Patch& patch, const T* image, T* out) {
    std::fill_n(out, s.channels, static_cast<T>(lowest<Accumulator<T>>()));
    for_pixels(s, patch, [&](std::int64_t at) {
      const T* x = image + at;
      // In this order NaN loses.
      for (std::int64_t c = 0; c < s.channels; ++c)
        out[c] = static_cast<Accumulator<T>>(x[c]) > static_cast<Accumulator<T>>(out[c]) ? x[c] : out[c];
    });
  });
  outputs.write();
}

// The loops below have no branches and no aliases, so that compilers make vectors of them.

/// best = the larger of both; an element beside NaN never wins against it.
template <class T>
void keep_larger(const T* __restrict x, T* __restrict best, std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c)
    best[c] = static_cast<Accumulator<T>>(best[c]) < static_cast<Accumulator<T>>(x[c]) ? x[c] : best[c];
}

/// The largest element of each channel of a window.
template <class T>
void find_largest(const PoolSizes& s, const Patch& patch, const T* image, T* best) {
  bool is_first = true;
  for_pixels(s, patch, [&](std::int64_t at) {
    if (is_first)
      std::copy_n(image + at, s.channels, best);
    else
      keep_larger(image + at, best, s.channels);
    is_first = false;
  });
}

/// Is `x` the largest element `best`?
template <class T>
bool is_largest(T x, T best) {
  const auto value = static_cast<Accumulator<T>>(x), most = static_cast<Accumulator<T>>(best);
  if constexpr (std::is_integral_v<T>)
    return value == most;
  else
    return static_cast<bool>((value == most) | ((value != value) & (most != most)));
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return static_cast<T>(static_cast<Accumulator<T>>(a) + static_cast<Accumulator<T>>(b));
}

/// Adds to `to` what is `left` for the channels whose element is the largest; that is given away once.
template <class T>
void give_to_largest(const T* __restrict x, const T* __restrict best, T* __restrict left, T* __restrict to,
                     std::int64_t n) {
  for (std::int64_t c = 0; c < n; ++c) {
    const bool hit = is_largest(x[c], best[c]);
    to[c] = plus(to[c], hit ? left[c] : T(0));
    left[c] = hit ? T(0) : left[c];
  }
}

template <class T>
void max_pool_grad_kernel(KernelContext& context) {
  const PoolSizes s = pool_sizes(context.attributes<MaxPoolAttributes>(), context.input(0).shape());
  const auto images = input_images(s, context.data<T>(0)), dy = output_images(s, context.data<T>(2));
  const auto dx = input_images(s, context.make_output<T>(0));
  images.read();
  dy.read();
  std::fill_n(dx.data(), context.output(0).size(), T(0));
  for_patches(s, images.data(), dy.data(), [&, n = s.channels](const Patch& patch, const T* image, const T* g) {
    T* const to = dx.data() + (image - images.data());
    const Scratch<T> best(static_cast<std::size_t>(n)), left(static_cast<std::size_t>(n));
    find_largest(s, patch, image, best.data());
    std::copy_n(g, n, left.data());
    for_pixels(s, patch, [&](std::int64_t at) { give_to_largest(image + at, best.data(), left.data(), to + at, n); });
  });
  dx.write();
}

template <class T>
void max_pool_grad_grad_kernel(KernelContext& context) {
  const PoolSizes s = pool_sizes(context.attributes<PoolAttributes>(), context.input(0).shape());
  const auto images = input_images(s, context.data<T>(0)), from = input_images(s, context.data<T>(2));
  const auto out = output_images(s, context.make_output<T>(0));
  images.read();
  from.read();
  for_patches(s, images.data(), out.data(), [&, n = s.channels](const Patch& patch, const T* image, T* to) {
    const T* const grad = from.data() + (image - images.data());
    const Scratch<T> best(static_cast<std::size_t>(n));
    const Scratch<bool> done(static_cast<std::size_t>(n));
    find_largest(s, patch, image, best.data());
    std::fill_n(done.data(), n, false);
    std::fill_n(to, n, T(0));
    for_pixels(s, patch, [&](std::int64_t at) {
      for (std::int64_t c = 0; c < n; ++c) {
        if (done.data()[c] || !is_largest(image[at + c], best.data()[c])) continue;
        to[c] = grad[at + c];
        done.data()[c] = true;
      }
    });
  });
  out.write();
}

template <class T>
void avg_pool_kernel(KernelContext& context) {
  using W = Accumulator<T>;
  const PoolSizes s = pool_sizes(context.attributes<PoolAttributes>(), context.input(0).shape());
  const auto images = input_images(s, context.data<T>(0)), outputs = output_images(s, context.make_output<T>(0));
  images.read();
  for_patches(s, images.data(), outputs.data(), [&](const Patch& patch, const T* image, T* out) {
    const Scratch<W> sums(static_cast<std::size_t>(s.channels));
    W* const sum = sums.data();
    std::fill_n(sum, s.channels, W(0));
    for_pixels(s, patch, [&](std::int64_t at) {
      for (std::int64_t c = 0; c < s.channels; ++c) sum[c] += static_cast<W>(image[at + c]);
    });
    for (std::int64_t c = 0; c < s.channels; ++c) out[c] = static_cast<T>(sum[c] / static_cast<W>(patch.count()));
  });
  outputs.write();
}

template <class T>
void avg_pool_grad_kernel(KernelContext& context) {
  using W = Accumulator<T>;
  const PoolSizes s = pool_sizes(context.attributes<PoolAttributes>(), context.output_spec(0).shape);
  T* const result = context.make_output<T>(0);
  const auto size = static_cast<std::size_t>(context.output(0).size());
  const Scratch<W> wide(std::is_same_v<T, W> ? 0 : size);
  W* flat;
  if constexpr (std::is_same_v<T, W>)
    flat = result;
  else
    flat = wide.data();
  const auto dy = output_images(s, context.data<T>(1));
  const auto dx = input_images<W>(s, flat);
  dy.read();
  std::fill_n(dx.data(), size, W(0));
  for_patches(s, dx.data(), dy.data(), [&](const Patch& patch, W* to, const T* g) {
    const W share = W(1) / static_cast<W>(patch.count());
    for_pixels(s, patch, [&](std::int64_t at) {
      for (std::int64_t c = 0; c < s.channels; ++c) to[at + c] += static_cast<W>(g[c]) * share;
    });
  });
  dx.write();
  if constexpr (!std::is_same_v<T, W>)
    for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<T>(flat[i]);
}

template <class... Types>
struct Kernels {
  template <Kernel... kKernels>
  static constexpr KernelSet of() {
    KernelSet kernels;
    (kernels.set(dtype_of<Types>(), kKernels), ...);
    return kernels;
  }
};
template <class... Types>
KernelTable rows_of(TypeList<Types...>) {
  using Real = Kernels<Types...>;
  using Floating = Kernels<float16, bfloat16, float, double>;
  static const KernelRow rows[] = {
      {&max_pool_op, Real::template of<max_pool_kernel<Types>...>()},
      {&max_pool_grad_op, Real::template of<max_pool_grad_kernel<Types>...>()},
      {&max_pool_grad_grad_op, Real::template of<max_pool_grad_grad_kernel<Types>...>()},
      {&avg_pool_op, Floating::of<avg_pool_kernel<float16>, avg_pool_kernel<bfloat16>, avg_pool_kernel<float>,
                                  avg_pool_kernel<double>>()},
      {&avg_pool_grad_op, Floating::of<avg_pool_grad_kernel<float16>, avg_pool_grad_kernel<bfloat16>,
                                       avg_pool_grad_kernel<float>, avg_pool_grad_kernel<double>>()},
  };
  return rows;
}

}  // namespace

KernelTable pooling_kernels() { return rows_of(RealTypes{}); }

}  // namespace capstan::cpu
