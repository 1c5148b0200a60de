// Random numbers: pure functions of a key and a counter, and draws from the process' generator.
#include "ops/random.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/random_ops.h"
#include "ops/records.h"

namespace capstan {
namespace {

void key_counter_shape(InferContext& context) {
  const Shape seed = context.merge(context.input_shape(0), Shape{2}, "'seed' and a pair");
  (void)seed;
  context.set_output(0, Shape{1});
  context.set_output(1, Shape{2});
}

/// shape, key [1], counter [1 or 2 words], alg.
void stateless_shape(InferContext& context) {
  context.require_rank(1, 1, "key");
  context.require_rank(2, 1, "counter");
  context.require_rank(3, 0, "alg");
  context.merge(context.input_shape(1), Shape{1}, "'key' and one word");
  context.set_output(0, context.shape_from_input(0));
}

void stateless_int_shape(InferContext& context) {
  context.require_rank(4, 0, "minval");
  context.require_rank(5, 0, "maxval");
  stateless_shape(context);
}

void stateful_shape(InferContext& context) { context.set_output(0, context.shape_from_input(0)); }

}  // namespace

const OpDef stateless_random_get_key_counter_op{
    .signature = "StatelessRandomGetKeyCounter(seed: Tseed) -> (key: uint64, counter: uint64); Tseed: {int32, int64}",
    .summary = "Scrambles a seed pair into the key and the counter of a random generator.",
    .shape = key_counter_shape,
    .gradient = not_differentiable,
};

const OpDef stateless_random_get_alg_op{
    .signature = "StatelessRandomGetAlg() -> (alg: int32)",
    .summary = "The random algorithm that this device prefers: 1, Philox.",
    .shape = shape::scalar,
    .gradient = not_differentiable,
};

const OpDef stateless_random_uniform_v2_op{
    .signature =
        "StatelessRandomUniformV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype); dtype: "
        "floating; Tshape: {int32, int64}",
    .summary = "Uniform numbers in [0, 1) from a key and a counter.",
    .shape = stateless_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatelessAttributes>,
};

const OpDef stateless_random_normal_v2_op{
    .signature =
        "StatelessRandomNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype); dtype: "
        "floating; Tshape: {int32, int64}",
    .summary = "Standard normal numbers from a key and a counter.",
    .shape = stateless_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatelessAttributes>,
};

const OpDef stateless_truncated_normal_v2_op{
    .signature =
        "StatelessTruncatedNormalV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype); "
        "dtype: floating; Tshape: {int32, int64}",
    .summary = "Standard normal numbers within two deviations, from a key and a counter.",
    .shape = stateless_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatelessAttributes>,
};

const OpDef stateless_random_uniform_int_v2_op{
    .signature =
        "StatelessRandomUniformIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: "
        "dtype) -> (output: dtype); dtype: {int32, int64, uint32, uint64}; Tshape: {int32, int64}",
    .summary = "Whole numbers in [minval, maxval) from a key and a counter.",
    .shape = stateless_int_shape,
    .gradient = not_differentiable,
};

const OpDef stateless_random_uniform_full_int_v2_op{
    .signature =
        "StatelessRandomUniformFullIntV2(shape: Tshape, key: uint64, counter: uint64, alg: int32) -> (output: dtype); "
        "dtype: {int32, int64, uint32, uint64}; Tshape: {int32, int64}",
    .summary = "Whole numbers over the whole range of the type, from a key and a counter.",
    .shape = stateless_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatelessAttributes>,
};

const OpDef random_uniform_op{
    .signature = "RandomUniform(shape: T) -> (output: dtype); dtype: floating; T: {int32, int64}",
    .summary =
        "Uniform numbers in [0, 1) from the process' generator, or from the stream of the seeds if one is not zero.",
    .shape = stateful_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatefulRandomAttributes>,
    .facts = {.stateful = true},
};

const OpDef random_standard_normal_op{
    .signature = "RandomStandardNormal(shape: T) -> (output: dtype); dtype: floating; T: {int32, int64}",
    .summary =
        "Standard normal numbers from the process' generator, or from the stream of the seeds if one is not zero.",
    .shape = stateful_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatefulRandomAttributes>,
    .facts = {.stateful = true},
};

const OpDef truncated_normal_op{
    .signature = "TruncatedNormal(shape: T) -> (output: dtype); dtype: floating; T: {int32, int64}",
    .summary = "Standard normal numbers within two deviations, from the process' generator or from the seeds.",
    .shape = stateful_shape,
    .gradient = not_differentiable,
    .attributes = attributes<StatefulRandomAttributes>,
    .facts = {.stateful = true},
};

namespace {

Tensor from_seed(const OpDef& op, const Shape& shape, const SeedPair& seed, DType dtype) {
  const auto words = apply_all(stateless_random_get_key_counter_op, {constant({seed[0], seed[1]})});
  const StatelessAttributes attributes{dtype};
  const Tensor alg = constant(static_cast<std::int32_t>(RandomAlgorithm::automatic));
  return apply(op, {shape_tensor(shape), words[0], words[1], alg}, &attributes);
}

Tensor scaled(Tensor x, double factor, double offset) {
  const DType dtype = x.dtype();
  return std::move(x) * constant_as(constant(factor), dtype) + constant_as(constant(offset), dtype);
}

/// x of [0, 1) over the interval. The width is a difference in the element type, as in TensorFlow: rounded at another
/// place it would give other bits.
Tensor spread(Tensor x, const UniformOptions& options) {
  const Tensor low = constant_as(constant(options.minval), x.dtype());
  const Tensor high = constant_as(constant(options.maxval), x.dtype());
  return std::move(x) * (high - low) + low;
}

Tensor drawn(const OpDef& op, const Shape& shape, DType dtype) {
  const StatefulRandomAttributes attributes{.dtype = dtype};
  return apply(op, {shape_tensor(shape)}, &attributes);
}

}  // namespace

Tensor stateless_uniform(const Shape& shape, const SeedPair& seed, const UniformOptions& options) {
  return spread(from_seed(stateless_random_uniform_v2_op, shape, seed, options.dtype), options);
}
Tensor stateless_normal(const Shape& shape, const SeedPair& seed, const NormalOptions& options) {
  return scaled(from_seed(stateless_random_normal_v2_op, shape, seed, options.dtype), options.stddev, options.mean);
}
Tensor stateless_truncated_normal(const Shape& shape, const SeedPair& seed, const NormalOptions& options) {
  return scaled(from_seed(stateless_truncated_normal_v2_op, shape, seed, options.dtype), options.stddev, options.mean);
}
Tensor stateless_uniform_int(const Shape& shape, const SeedPair& seed, const Tensor& minval, const Tensor& maxval) {
  const auto words = apply_all(stateless_random_get_key_counter_op, {constant({seed[0], seed[1]})});
  const Tensor alg = constant(static_cast<std::int32_t>(RandomAlgorithm::automatic));
  return apply(stateless_random_uniform_int_v2_op, {shape_tensor(shape), words[0], words[1], alg, minval, maxval});
}
Tensor random_uniform(const Shape& shape, const UniformOptions& options) {
  return spread(drawn(random_uniform_op, shape, options.dtype), options);
}
Tensor random_normal(const Shape& shape, const NormalOptions& options) {
  return scaled(drawn(random_standard_normal_op, shape, options.dtype), options.stddev, options.mean);
}
Tensor truncated_normal(const Shape& shape, const NormalOptions& options) {
  return scaled(drawn(truncated_normal_op, shape, options.dtype), options.stddev, options.mean);
}

OpList random_ops() {
  static constexpr const OpDef* list[] = {&stateless_random_get_key_counter_op,
                                          &stateless_random_get_alg_op,
                                          &stateless_random_uniform_v2_op,
                                          &stateless_random_normal_v2_op,
                                          &stateless_truncated_normal_v2_op,
                                          &stateless_random_uniform_int_v2_op,
                                          &stateless_random_uniform_full_int_v2_op,
                                          &random_uniform_op,
                                          &random_standard_normal_op,
                                          &truncated_normal_op};
  return list;
}

}  // namespace capstan
