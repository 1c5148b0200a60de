// Kernels of batch normalization, in float over images as [rows, channels].
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/elementwise.h"
#include "cpu/images.h"
#include "cpu/tables.h"
#include "ops/nn.h"
#include "tensor/element_count.h"

namespace capstan::cpu {
namespace {

/// Sizes of images of 4 or 5 dimensions.
struct Sizes {
  std::int64_t batch, pixels = 1, channels;
  bool channels_first;
  Sizes(const Shape& shape, const std::string& data_format)
      : batch(shape[0]), channels_first(is_channels_first(data_format)) {
    const int channel = channel_axis(data_format, shape.rank());
    channels = shape[channel];
    for (int axis = 1; axis < shape.rank(); ++axis)
      if (axis != channel) pixels = multiply_counts(pixels, shape[axis]);
  }
  std::int64_t rows() const { return multiply_counts(batch, pixels); }
  std::int64_t rows_per_block() const {
    return std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, channels));
  }
};

template <class T>
Images<T> images_over(const Sizes& s, const T* data) {
  return {const_cast<T*>(data), s.batch, s.pixels, s.channels, s.channels_first};
}

/// Sums per channel of what `add(first element of a row, sums)` adds for each row. Blocks are summed in float, the sums
/// of blocks in double.
template <class Add>
std::vector<double> channel_sums(const Sizes& s, Add&& add) {
  const std::int64_t rows = s.rows_per_block(), blocks = (s.rows() + rows - 1) / rows;
  const Scratch<float> partial(static_cast<std::size_t>(blocks * s.channels));
  for_blocks(s.rows(), rows, [&](std::int64_t begin, std::int64_t end) {
    float* sums = partial.data() + begin / rows * s.channels;
    std::fill_n(sums, s.channels, 0.f);
    for (std::int64_t row = begin; row < end; ++row) add(row * s.channels, sums);
  });
  std::vector<double> total(static_cast<std::size_t>(s.channels));
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t c = 0; c < s.channels; ++c)
      total[static_cast<std::size_t>(c)] += static_cast<double>(partial.data()[block * s.channels + c]);
  return total;
}

/// Calls `body(first element of a row)` for each row, on the pool.
template <class Body>
void for_rows(const Sizes& s, Body&& body) {
  for_blocks(s.rows(), s.rows_per_block(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row * s.channels);
  });
}

struct Statistics {
  std::vector<float> mean, variance;  // of the population
};
Statistics statistics_of(const Sizes& s, const float* x) {
  const auto count = static_cast<double>(s.rows());
  Statistics result;
  for (double sum : channel_sums(s, [&](std::int64_t at, float*sums) {
         for (std::int64_t c = 0; c < s.channels; ++c) sums[c] += x[at + c];
       }))
    result.mean.push_back(static_cast<float>(sum / count));
  const float* const mean = result.mean.data();
  for (double sum : channel_sums(s, [&](std::int64_t at, float*sums) {
         for (std::int64_t c = 0; c < s.channels; ++c) sums[c] += (x[at + c] - mean[c]) * (x[at + c] - mean[c]);
       }))
    result.variance.push_back(static_cast<float>(sum / count));
  return result;
}

/// The given statistics, or those of the batch blended into them.
void write_running(float* out, const float* given, const std::vector<float>& batch, float factor, double correction) {
  for (std::size_t c = 0; c < batch.size(); ++c) {
    const float value = static_cast<float>(static_cast<double>(batch[c]) * correction);
    out[c] = factor == 1.f ? value : (1.f - factor) * given[c] + factor * value;
  }
}

template <class T>
void batch_norm_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<BatchNormAttributes>();
  const Sizes s(context.input(0).shape(), attributes.data_format);
  auto images = images_over(s, context.data<T>(0));
  auto result = images_over(s, context.make_output<T>(0));
  const float *scale = context.data<float>(1), *offset = context.data<float>(2), *mean = context.data<float>(3),
              *variance = context.data<float>(4);
  float *out_mean = context.make_output<float>(1), *out_variance = context.make_output<float>(2);
  float *saved_mean = context.make_output<float>(3), *saved_variance = context.make_output<float>(4);
  *context.make_output<float>(5) = 0;
  images.read();
  if (attributes.is_training) {
    const Statistics batch = statistics_of(s, images.nhwc());
    const auto rows = static_cast<double>(s.rows());
    write_running(out_mean, mean, batch.mean, attributes.exponential_avg_factor, 1.0);
    write_running(out_variance, variance, batch.variance, attributes.exponential_avg_factor,
                  rows / std::max(rows - 1, 1.0));
    std::copy_n(batch.mean.data(), s.channels, saved_mean);
    std::copy_n(batch.variance.data(), s.channels, saved_variance);
    mean = saved_mean;
    variance = saved_variance;
  } else {
    std::copy_n(mean, s.channels, out_mean);
    std::copy_n(variance, s.channels, out_variance);
    std::fill_n(saved_mean, s.channels, 0.f);
    std::fill_n(saved_variance, s.channels, 0.f);
  }
  std::vector<float> factor(static_cast<std::size_t>(s.channels)), shift(factor.size());
  for (std::size_t c = 0; c < factor.size(); ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + attributes.epsilon);
    shift[c] = offset[c];
  }
  for_rows(s, [&, from = images.nhwc(), to = result.nhwc(), f = factor.data(), b = shift.data()](std::int64_t at) {
    for (std::int64_t c = 0; c < s.channels; ++c) to[at + c] = (from[at + c] - mean[c]) * f[c] + b[c];
  });
  result.write();
}

template <class T>
void batch_norm_grad_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<BatchNormGradAttributes>();
  const Sizes s(context.input(1).shape(), attributes.data_format);
  auto dys = images_over(s, context.data<T>(0)), images = images_over(s, context.data<T>(1));
  auto result = images_over(s, context.make_output<T>(0));
  const float *scale = context.data<float>(2), *mean = context.data<float>(3), *variance = context.data<float>(4);
  float *d_scale = context.make_output<float>(1), *d_offset = context.make_output<float>(2);
  context.make_output<float>(3);
  context.make_output<float>(4);
  dys.read();
  images.read();
  const float *dy = dys.nhwc(), *x = images.nhwc();
  const auto sum = channel_sums(s, [&](std::int64_t at, float* sums) {
    for (std::int64_t c = 0; c < s.channels; ++c) sums[c] += dy[at + c];
  });
  const auto product = channel_sums(s, [&](std::int64_t at, float* sums) {
    for (std::int64_t c = 0; c < s.channels; ++c) sums[c] += dy[at + c] * (x[at + c] - mean[c]);
  });
  // dx = factor (dy - dy_mean - (x - mean) slope); both are 0 where the statistics do not depend on x.
  std::vector<float> factor(sum.size()), dy_mean(sum.size()), slope(sum.size());
  const double rows = attributes.is_training ? static_cast<double>(s.rows()) : std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < sum.size(); ++c) {
    const double spread = static_cast<double>(variance[c]) + static_cast<double>(attributes.epsilon);
    factor[c] = static_cast<float>(static_cast<double>(scale[c]) / std::sqrt(spread));
    dy_mean[c] = static_cast<float>(sum[c] / rows);
    slope[c] = static_cast<float>(product[c] / rows / spread);
    d_scale[c] = static_cast<float>(product[c] / std::sqrt(spread));
    d_offset[c] = static_cast<float>(sum[c]);
  }
  for_rows(s, [&, to = result.nhwc(), f = factor.data(), m = dy_mean.data(), k = slope.data()](std::int64_t at) {
    for (std::int64_t c = 0; c < s.channels; ++c)
      to[at + c] = f[c] * (dy[at + c] - m[c] - (x[at + c] - mean[c]) * k[c]);
  });
  result.write();
}

}  // namespace

KernelTable batch_norm_kernels() {
  static const KernelRow rows[] = {
      {&fused_batch_norm_v3_op, KernelSet()
                                    .set(DType::float16, batch_norm_kernel<float16>)
                                    .set(DType::bfloat16, batch_norm_kernel<bfloat16>)
                                    .set(DType::float32, batch_norm_kernel<float>)},
      {&fused_batch_norm_grad_v3_op, KernelSet()
                                         .set(DType::float16, batch_norm_grad_kernel<float16>)
                                         .set(DType::bfloat16, batch_norm_grad_kernel<bfloat16>)
                                         .set(DType::float32, batch_norm_grad_kernel<float>)},
  };
  return rows;
}

}  // namespace capstan::cpu
