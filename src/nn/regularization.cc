// Layers that behave differently in training: dropout and batch normalization.
#include <atomic>

#include "capstan/base/error.h"
#include "capstan/nn/layers.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/nn.h"
#include "capstan/ops/random_ops.h"
#include "capstan/ops/reduce.h"
#include "op/observer.h"

namespace capstan::nn {
namespace {

class DropoutBody final : public LayerBody {
 public:
  DropoutBody(double rate, const DropoutLayerOptions& options)
      : LayerBody("dropout"), rate_(rate), seed_(options.seed) {
    if (!(rate >= 0 && rate < 1)) throw InvalidArgument("Dropout: rate must be in [0, 1), got " + std::to_string(rate));
  }

 private:
  Tensor call(const Tensor& x, const CallOptions& options) override {
    if (!options.training || rate_ == 0) return x;
    if (!seed_) return dropout(x, rate_);
    return dropout(x, rate_, {.seed = SeedPair{(*seed_)[0], (*seed_)[1] + calls_.fetch_add(1)}});
  }

  const double rate_;
  const std::optional<SeedPair> seed_;
  std::atomic<std::int64_t> calls_{0};
};

class BatchNormalizationBody final : public LayerBody {
 public:
  explicit BatchNormalizationBody(const BatchNormalizationOptions& options)
      : LayerBody(options.name), options_(options) {}

  std::vector<NamedChild> children() const override {
    if (!gamma_) return {};
    return {
        {"gamma", *gamma_}, {"beta", *beta_}, {"moving_mean", *moving_mean_}, {"moving_variance", *moving_variance_}};
  }

 private:
  void build(const Shape& input) override {
    if (input.rank() < 2 || input.dim(-1) < 0)
      throw InvalidArgument("BatchNormalization '" + name() +
                            "': needs [batch, ..., channels] with known channels, got shape " + input.to_string());
    const Shape channels{input.dim(-1)};
    gamma_.emplace(ones(channels), VariableOptions{.name = name() + "/gamma"});
    beta_.emplace(zeros(channels), VariableOptions{.name = name() + "/beta"});
    moving_mean_.emplace(zeros(channels), VariableOptions{.name = name() + "/moving_mean", .trainable = false});
    moving_variance_.emplace(ones(channels), VariableOptions{.name = name() + "/moving_variance", .trainable = false});
  }

  void forget() override {
    for (auto* each : {&gamma_, &beta_, &moving_mean_, &moving_variance_}) each->reset();
  }

  Tensor call(const Tensor& x, const CallOptions& options) override {
    if (!options.training) return normalized(x, *moving_mean_, *moving_variance_);
    std::vector<std::int64_t> axes;
    for (int i = 0; i + 1 < x.rank(); ++i) axes.push_back(i);
    const Tensor mean = reduce_mean(x, {.axis = axes});
    const Tensor variance = reduce_mean(square(x - mean), {.axis = axes});
    Tensor y = normalized(x, mean, variance);
    learn(mean, variance);
    return y;
  }

  Tensor normalized(const Tensor& x, const Tensor& mean, const Tensor& variance) const {
    const Tensor scale = *gamma_ * rsqrt(variance + options_.epsilon);
    return x * scale + (*beta_ - mean * scale);
  }

  /// The moving statistics follow the batch's; no gradient flows into them. The variance is that of the batch as a
  /// population (divided by the number of elements) for any rank, as in Keras 3: its predecessors took the sample's
  /// variance where they used the fused operation.
  void learn(const Tensor& mean, const Tensor& variance) {
    const PauseObservers silent;
    const auto follow = [&](const Variable& moving, const Tensor& batch) {
      moving.assign(moving * options_.momentum + batch * (1 - options_.momentum));
    };
    follow(*moving_mean_, mean);
    follow(*moving_variance_, variance);
  }

  const BatchNormalizationOptions options_;
  std::optional<Variable> gamma_;
  std::optional<Variable> beta_;
  std::optional<Variable> moving_mean_;
  std::optional<Variable> moving_variance_;
};

}  // namespace

Dropout::Dropout(double rate, const DropoutLayerOptions& options)
    : Layer(std::make_shared<DropoutBody>(rate, options)) {}
BatchNormalization::BatchNormalization(const BatchNormalizationOptions& options)
    : Layer(std::make_shared<BatchNormalizationBody>(options)) {}

}  // namespace capstan::nn
