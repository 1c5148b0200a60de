// How variables begin. With a seed pair an initializer is a pure function, equal to TensorFlow's stateless draws;
// without one it draws from the process' generator.
#pragma once

#include <functional>
#include <optional>

#include "capstan/ops/random_ops.h"
#include "capstan/tensor/tensor.h"

namespace capstan::nn {

using Initializer = std::function<Tensor(const Shape& shape, DType dtype)>;

struct SeedOptions {
  std::optional<SeedPair> seed = {};
};

Initializer zeros_initializer();
Initializer ones_initializer();
Initializer constant_initializer(double value);

struct RandomNormalOptions {
  double mean = 0;
  double stddev = 0.05;
  std::optional<SeedPair> seed = {};
};
Initializer random_normal_initializer(const RandomNormalOptions& options = {});
Initializer truncated_normal_initializer(const RandomNormalOptions& options = {});

struct RandomUniformOptions {
  double minval = -0.05;
  double maxval = 0.05;
  std::optional<SeedPair> seed = {};
};
Initializer random_uniform_initializer(const RandomUniformOptions& options = {});

/// Draws whose variance is `scale` over the number of inputs, of outputs, or their mean. For a kernel [..., in, out]
/// the leading dimensions count as a receptive field.
struct VarianceScalingOptions {
  double scale = 1;
  enum class Mode { fan_in, fan_out, fan_avg } mode = Mode::fan_in;
  enum class Distribution {
    truncated_normal,
    untruncated_normal,
    uniform
  } distribution = Distribution::truncated_normal;
  std::optional<SeedPair> seed = {};
};
Initializer variance_scaling(const VarianceScalingOptions& options = {});
/// Glorot and Bengio, 2010: uniform in ±sqrt(6 / (fan_in + fan_out)).
Initializer glorot_uniform(const SeedOptions& options = {});
/// Truncated normal of standard deviation sqrt(2 / (fan_in + fan_out)).
Initializer glorot_normal(const SeedOptions& options = {});
/// He et al., 2015: uniform in ±sqrt(6 / fan_in).
Initializer he_uniform(const SeedOptions& options = {});
/// Truncated normal of standard deviation sqrt(2 / fan_in).
Initializer he_normal(const SeedOptions& options = {});
/// LeCun et al., 1998: uniform in ±sqrt(3 / fan_in).
Initializer lecun_uniform(const SeedOptions& options = {});
/// Truncated normal of standard deviation sqrt(1 / fan_in).
Initializer lecun_normal(const SeedOptions& options = {});

}  // namespace capstan::nn
