// Random numbers. The `stateless_` functions are pure: the same seed pair gives the same numbers on every machine, and
// the words behind them are TensorFlow's (Philox 4x32-10). The numbers are TensorFlow's to the bit; normal ones
// pass through the logarithm, sine and cosine of the C library (GNU's gives the same bits, others may differ in the
// last places). The others draw from the process' generator, which `set_random_seed` makes repeatable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "capstan/tensor/tensor.h"

namespace capstan {

using SeedPair = std::array<std::int64_t, 2>;

/// Uniform in [minval, maxval). Floating types only; for integers see `stateless_uniform_int`.
struct UniformOptions {
  double minval = 0;
  double maxval = 1;
  DType dtype = DType::float32;
};
Tensor stateless_uniform(const Shape& shape, const SeedPair& seed, const UniformOptions& options = {});

/// Normal with the given mean and standard deviation.
struct NormalOptions {
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::float32;
};
Tensor stateless_normal(const Shape& shape, const SeedPair& seed, const NormalOptions& options = {});
/// Normal, values beyond two standard deviations drawn again.
Tensor stateless_truncated_normal(const Shape& shape, const SeedPair& seed, const NormalOptions& options = {});
/// Whole numbers in [minval, maxval), scalars of type int32, int64, uint32 or uint64 and of one type.
Tensor stateless_uniform_int(const Shape& shape, const SeedPair& seed, const Tensor& minval, const Tensor& maxval);

Tensor random_uniform(const Shape& shape, const UniformOptions& options = {});
Tensor random_normal(const Shape& shape, const NormalOptions& options = {});
Tensor truncated_normal(const Shape& shape, const NormalOptions& options = {});

/// Restarts the process' generator from a seed, and the streams of the ops that have seeds of their own.
void set_random_seed(std::uint64_t seed);

struct DropoutOptions {
  std::optional<SeedPair> seed = {};  // unset: from the process' generator
};
/// Each element is zero with probability `rate` and otherwise divided by 1 - rate. Throws InvalidArgument unless
/// 0 <= rate < 1.
Tensor dropout(const Tensor& x, double rate, const DropoutOptions& options = {});

}  // namespace capstan
