// The layers that networks are built from. Images are [batch, height, width, channels].
#pragma once

#include <array>
#include <optional>
#include <string>

#include "capstan/nn/initializers.h"
#include "capstan/nn/layer.h"

namespace capstan::nn {

/// [batch, ...] to [batch, product of the rest].
class Flatten : public Layer {
 public:
  Flatten();
};

struct DenseOptions {
  bool use_bias = true;
  Initializer kernel_initializer = glorot_uniform();
  Initializer bias_initializer = zeros_initializer();
  std::string name = "dense";
};
/// activation(x · kernel + bias) over the last dimension: [..., in] to [..., units].
class Dense : public Layer {
 public:
  explicit Dense(std::int64_t units, Activation activation = {}, const DenseOptions& options = {});
};

struct Conv2DOptions {
  std::array<std::int64_t, 2> strides = {1, 1};
  std::string padding = "VALID";  // or "SAME"
  std::array<std::int64_t, 2> dilations = {1, 1};
  bool use_bias = true;
  Initializer kernel_initializer = glorot_uniform();
  Initializer bias_initializer = zeros_initializer();
  std::string name = "conv2d";
};
/// activation(conv2d(x, kernel) + bias): [batch, height, width, in] to [batch, height', width', filters].
class Conv2D : public Layer {
 public:
  Conv2D(std::int64_t filters, std::array<std::int64_t, 2> kernel_size, Activation activation = {},
         const Conv2DOptions& options = {});
};

struct MaxPool2DOptions {
  std::array<std::int64_t, 2> strides = {0, 0};  // 0: the pool's size
  std::string padding = "VALID";
};
/// The largest value of each window.
class MaxPool2D : public Layer {
 public:
  explicit MaxPool2D(std::array<std::int64_t, 2> pool_size = {2, 2}, const MaxPool2DOptions& options = {});
};

struct DropoutLayerOptions {
  std::optional<SeedPair> seed = {};  // with a seed the masks repeat from run to run; each call draws another
};
/// In training, drops each element with probability `rate` and scales the others by 1 / (1 - rate).
class Dropout : public Layer {
 public:
  explicit Dropout(double rate, const DropoutLayerOptions& options = {});
};

struct BatchNormalizationOptions {
  double momentum = 0.99;  // of the moving statistics
  double epsilon = 1e-3;
  std::string name = "batch_normalization";
};
/// Normalises over all axes but the last, by the batch's statistics in training and by moving ones otherwise.
class BatchNormalization : public Layer {
 public:
  explicit BatchNormalization(const BatchNormalizationOptions& options = {});
};

}  // namespace capstan::nn
