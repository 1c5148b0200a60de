// Operations of neural networks. Images are [batch, height, width, channels] ("NHWC") unless `data_format` says "NCHW".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capstan/ops/reduce.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

struct ConvolutionOptions {
  /// One number, two (height, width), or four in the layout's order.
  std::vector<std::int64_t> strides = {1};
  std::string padding = "VALID";  // "VALID", "SAME", or "EXPLICIT" with `explicit_paddings`
  std::string data_format = "NHWC";
  std::vector<std::int64_t> dilations = {1};
  /// Before and after each of the four dimensions, in the layout's order.
  std::vector<std::int64_t> explicit_paddings = {};
};

/// Convolution of images with filters [height, width, in_channels, out_channels]. With fewer channels in the filters
/// than in the images the channels are cut into groups.
Tensor conv2d(Tensor input, Tensor filters, const ConvolutionOptions& options = {});
/// The gradient of `conv2d` with respect to its input, as an operation of its own; `output_shape` has 4 dimensions.
Tensor conv2d_transpose(Tensor input, Tensor filters, const Shape& output_shape,
                        const ConvolutionOptions& options = {});
/// Each channel has filters of its own: [height, width, channels, multiplier]; the result has channels * multiplier.
Tensor depthwise_conv2d(Tensor input, Tensor filter, const ConvolutionOptions& options = {});

struct PoolOptions {
  /// One number, two (height, width), or four in the layout's order.
  std::vector<std::int64_t> ksize = {2};
  std::vector<std::int64_t> strides = {2};
  std::string padding = "VALID";
  std::string data_format = "NHWC";
  std::vector<std::int64_t> explicit_paddings = {};  // of max_pool, with padding "EXPLICIT"
};

/// The largest element of each window; NaN counts as the smallest.
Tensor max_pool(Tensor input, const PoolOptions& options = {});
/// The mean of each window; padding does not count.
Tensor avg_pool(Tensor input, const PoolOptions& options = {});

/// value + bias, one number per channel: the last dimension, or the second for "NCHW".
Tensor bias_add(Tensor value, Tensor bias, const std::string& data_format = "NHWC");

struct SoftmaxOptions {
  std::int64_t axis = -1;
};
/// exp(x) / sum(exp(x)) along an axis.
Tensor softmax(Tensor logits);
Tensor softmax(Tensor logits, const SoftmaxOptions& options);
/// Logarithm of the softmax.
Tensor log_softmax(Tensor logits);
Tensor log_softmax(Tensor logits, const SoftmaxOptions& options);

/// Cross entropy of softmax(logits) with distributions, both [..., classes]; the result has one number per row: [...].
Tensor softmax_cross_entropy(Tensor labels, Tensor logits);
/// The same with the number of the right class, int32 or int64, in place of each distribution: labels [...], logits
/// [..., classes]. Throws InvalidArgument for labels outside [0, classes).
Tensor sparse_softmax_cross_entropy(Tensor labels, Tensor logits);

/// sum(x * x) / 2.
Tensor l2_loss(Tensor x);

struct TopK {
  Tensor values;
  Tensor indices;  // int32
};
/// The k largest elements along the last dimension, largest first; of equals, the one with the lower index.
TopK top_k(Tensor input, std::int64_t k = 1, bool sorted = true);
/// Is the target's prediction among the k largest? predictions [batch, classes], targets [batch].
Tensor in_top_k(Tensor targets, Tensor predictions, std::int64_t k);

struct Moments {
  Tensor mean;
  Tensor variance;  // of the population
};
Moments moments(Tensor x, const ReduceOptions& options = {});

struct FusedBatchNormOptions {
  float epsilon = 1e-3f;
  std::string data_format = "NHWC";
  bool is_training = true;
  float exponential_avg_factor = 1.0f;
};
struct FusedBatchNorm {
  Tensor y;
  Tensor mean;      // of the batch; with a factor below 1, blended into the given one
  Tensor variance;  // with Bessel's correction, blended likewise
};
/// Normalizes each channel with the batch's statistics, or with the given ones unless `is_training`.
FusedBatchNorm fused_batch_norm(Tensor x, Tensor scale, Tensor offset, Tensor mean, Tensor variance,
                                const FusedBatchNormOptions& options = {});

/// (x - mean) / sqrt(variance + epsilon) * scale + offset, all broadcast; undefined `offset` and `scale` are left out.
Tensor batch_normalization(Tensor x, Tensor mean, Tensor variance, Tensor offset, Tensor scale,
                           double variance_epsilon);
/// Normalizes along the last dimension, then scales and shifts it; undefined `scale` and `offset` are left out.
Tensor layer_normalization(Tensor x, Tensor scale, Tensor offset, double epsilon = 1e-5);

}  // namespace capstan
