#include "capstan/base/error.h"
#include "capstan/nn/layers.h"
#include "capstan/ops/array.h"
#include "capstan/ops/linalg.h"
#include "capstan/ops/nn.h"

namespace capstan::nn {
namespace {

class FlattenBody final : public LayerBody {
 public:
  FlattenBody() : LayerBody("flatten") {}

 private:
  Tensor call(const Tensor& x, const CallOptions&) override {
    if (x.rank() < 1) throw InvalidArgument("Flatten: needs at least 1 dimension, got shape " + x.shape().to_string());
    std::int64_t width = 1;
    for (int i = 1; i < x.rank(); ++i) width *= x.dim(i);
    return reshape(x, Shape{x.dim(0), width});
  }
};

class DenseBody final : public LayerBody {
 public:
  DenseBody(std::int64_t units, Activation activation, const DenseOptions& options)
      : LayerBody(options.name), units_(units), activation_(std::move(activation)), options_(options) {
    if (units < 1) throw InvalidArgument("Dense: units must be positive, got " + std::to_string(units));
  }

  std::vector<NamedChild> children() const override {
    std::vector<NamedChild> all;
    if (kernel_) all.push_back({"kernel", *kernel_});
    if (bias_) all.push_back({"bias", *bias_});
    return all;
  }

 private:
  void build(const Shape& input) override {
    if (input.rank() < 2 || input.dim(-1) < 0)
      throw InvalidArgument("Dense '" + name() + "': needs [batch, ..., features] with known features, got shape " +
                            input.to_string());
    kernel_.emplace(options_.kernel_initializer(Shape{input.dim(-1), units_}, DType::float32),
                    VariableOptions{.name = name() + "/kernel"});
    if (options_.use_bias)
      bias_.emplace(options_.bias_initializer(Shape{units_}, DType::float32),
                    VariableOptions{.name = name() + "/bias"});
  }

  void forget() override {
    kernel_.reset();
    bias_.reset();
  }

  Tensor call(const Tensor& x, const CallOptions&) override {
    if (x.rank() > 2) return unflattened(x);
    Tensor y = matmul(x, *kernel_);
    if (bias_) y = bias_add(std::move(y), *bias_);
    return activation_(std::move(y));
  }

  /// Leading dimensions count as one batch.
  Tensor unflattened(const Tensor& x) {
    Shape output = x.shape();
    output.set_dim(-1, units_);
    return reshape(call(reshape(x, Shape{-1, x.dim(-1)}), {}), output);
  }

  const std::int64_t units_;
  const Activation activation_;
  const DenseOptions options_;
  std::optional<Variable> kernel_;
  std::optional<Variable> bias_;
};

}  // namespace

Flatten::Flatten() : Layer(std::make_shared<FlattenBody>()) {}
Dense::Dense(std::int64_t units, Activation activation, const DenseOptions& options)
    : Layer(std::make_shared<DenseBody>(units, std::move(activation), options)) {}

}  // namespace capstan::nn
