#include "capstan/nn/layer.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "op/observer.h"

namespace capstan::nn {

Tensor LayerBody::operator()(const Tensor& x, const CallOptions& options) {
  build_once(x.shape());
  return call(x, options);
}

void LayerBody::build_once(const Shape& input) {
  if (is_built_) return;
  build(input);
  is_built_ = true;
}

namespace {

class SequentialBody final : public LayerBody {
 public:
  explicit SequentialBody(std::vector<Layer> layers) : LayerBody("sequential"), layers_(std::move(layers)) {}

  std::vector<NamedChild> children() const override {
    std::vector<NamedChild> all;
    for (std::size_t i = 0; i < layers_.size(); ++i) all.push_back({"layer-" + std::to_string(i), layers_[i]});
    return all;
  }

 private:
  /// Each layer learns its input's shape from what the layers before it make of one example of zeros.
  void build(const Shape& input) override {
    if (input.rank() < 1)
      throw InvalidArgument("Sequential: the input must have a batch dimension, got shape " + input.to_string());
    const PauseObservers silent;
    Shape example = input;
    example.set_dim(0, 1);
    Tensor y = zeros(example);
    for (const Layer& layer : layers_) y = layer(y);
  }

  Tensor call(const Tensor& x, const CallOptions& options) override {
    Tensor y = x;
    for (const Layer& layer : layers_) y = layer(y, options);
    return y;
  }

  const std::vector<Layer> layers_;
};

}  // namespace

Sequential::Sequential(std::vector<Layer> layers) : Layer(std::make_shared<SequentialBody>(std::move(layers))) {}

}  // namespace capstan::nn
