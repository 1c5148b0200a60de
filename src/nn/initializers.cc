#include "capstan/nn/initializers.h"

#include <cmath>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"

namespace capstan::nn {
namespace {

Tensor uniform(const Shape& shape, DType dtype, double low, double high, const std::optional<SeedPair>& seed) {
  const UniformOptions options{.minval = low, .maxval = high, .dtype = dtype};
  return seed ? stateless_uniform(shape, *seed, options) : random_uniform(shape, options);
}

Tensor normal(const Shape& shape, DType dtype, double mean, double stddev, const std::optional<SeedPair>& seed) {
  const NormalOptions options{.mean = mean, .stddev = stddev, .dtype = dtype};
  return seed ? stateless_normal(shape, *seed, options) : random_normal(shape, options);
}

Tensor truncated(const Shape& shape, DType dtype, double mean, double stddev, const std::optional<SeedPair>& seed) {
  const NormalOptions options{.mean = mean, .stddev = stddev, .dtype = dtype};
  return seed ? stateless_truncated_normal(shape, *seed, options) : truncated_normal(shape, options);
}

struct Fans {
  double in = 1;
  double out = 1;
};

Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double field = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) field *= static_cast<double>(shape[i]);
  return {field * static_cast<double>(shape.dim(-2)), field * static_cast<double>(shape.dim(-1))};
}

using Mode = VarianceScalingOptions::Mode;
using Distribution = VarianceScalingOptions::Distribution;

double fan_of(const Shape& shape, Mode mode) {
  const Fans fans = fans_of(shape);
  const double fan = mode == Mode::fan_in ? fans.in : mode == Mode::fan_out ? fans.out : (fans.in + fans.out) / 2;
  return std::max(1.0, fan);
}

Initializer scaled(double scale, Mode mode, Distribution distribution, const SeedOptions& options) {
  return variance_scaling({.scale = scale, .mode = mode, .distribution = distribution, .seed = options.seed});
}

}  // namespace

Initializer zeros_initializer() {
  return [](const Shape& shape, DType dtype) { return zeros(shape, dtype); };
}
Initializer ones_initializer() {
  return [](const Shape& shape, DType dtype) { return ones(shape, dtype); };
}
Initializer constant_initializer(double value) {
  return [=](const Shape& shape, DType dtype) { return fill(shape, constant_as(constant(value), dtype)); };
}
Initializer random_normal_initializer(const RandomNormalOptions& o) {
  return [=](const Shape& shape, DType dtype) { return normal(shape, dtype, o.mean, o.stddev, o.seed); };
}
Initializer truncated_normal_initializer(const RandomNormalOptions& o) {
  return [=](const Shape& shape, DType dtype) { return truncated(shape, dtype, o.mean, o.stddev, o.seed); };
}
Initializer random_uniform_initializer(const RandomUniformOptions& o) {
  return [=](const Shape& shape, DType dtype) { return uniform(shape, dtype, o.minval, o.maxval, o.seed); };
}

Initializer variance_scaling(const VarianceScalingOptions& o) {
  if (!(o.scale > 0)) throw InvalidArgument("variance_scaling: scale must be positive, got " + std::to_string(o.scale));
  return [=](const Shape& shape, DType dtype) {
    const double variance = o.scale / fan_of(shape, o.mode);
    if (o.distribution == Distribution::uniform) {
      const double limit = std::sqrt(3 * variance);
      return uniform(shape, dtype, -limit, limit, o.seed);
    }
    if (o.distribution == Distribution::untruncated_normal) return normal(shape, dtype, 0, std::sqrt(variance), o.seed);
    // Cutting the tails at two deviations leaves this share of the deviation.
    constexpr double kTruncatedDeviation = .87962566103423978;
    return truncated(shape, dtype, 0, std::sqrt(variance) / kTruncatedDeviation, o.seed);
  };
}

Initializer glorot_uniform(const SeedOptions& o) { return scaled(1, Mode::fan_avg, Distribution::uniform, o); }
Initializer glorot_normal(const SeedOptions& o) { return scaled(1, Mode::fan_avg, Distribution::truncated_normal, o); }
Initializer he_uniform(const SeedOptions& o) { return scaled(2, Mode::fan_in, Distribution::uniform, o); }
Initializer he_normal(const SeedOptions& o) { return scaled(2, Mode::fan_in, Distribution::truncated_normal, o); }
Initializer lecun_uniform(const SeedOptions& o) { return scaled(1, Mode::fan_in, Distribution::uniform, o); }
Initializer lecun_normal(const SeedOptions& o) { return scaled(1, Mode::fan_in, Distribution::truncated_normal, o); }

}  // namespace capstan::nn
