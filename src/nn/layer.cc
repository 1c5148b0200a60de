#include "capstan/nn/layer.h"

#include <algorithm>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "op/observer.h"

namespace capstan::nn {

Tensor LayerBody::operator()(const Tensor& x, const CallOptions& options) {
  if (is_built()) return call(x, options);
  std::unique_lock lock(building_);
  if (is_built()) {  // by another thread meanwhile
    lock.unlock();
    return call(x, options);
  }
  build_or_forget(x.shape());
  try {
    Tensor y = call(x, options);
    is_built_.store(true, std::memory_order_release);
    return y;
  } catch (...) {
    forget();
    throw;
  }
}

void LayerBody::build_once(const Shape& input) {
  if (is_built()) return;
  const std::lock_guard lock(building_);
  if (is_built()) return;
  build_or_forget(input);
  is_built_.store(true, std::memory_order_release);
}

void LayerBody::build_or_forget(const Shape& input) {
  try {
    build(input);
  } catch (...) {
    forget();
    throw;
  }
}

void LayerBody::unbuild() {
  const std::lock_guard lock(building_);
  is_built_.store(false, std::memory_order_release);
  forget();
}

void Layer::throw_empty() {
  throw FailedPrecondition("an nn::Layer without a body was used: it was made of null or moved from");
}

namespace {

// Calls, builds and destructors go down recursively, and threads may have small stacks. The first call holds one lock
// per level, and ThreadSanitizer follows no more than 64 at once.
constexpr int kMostNested = 50;

class SequentialBody final : public LayerBody {
 public:
  explicit SequentialBody(std::vector<Layer> layers) : LayerBody("sequential"), layers_(std::move(layers)) {
    for (const Layer& layer : layers_)
      if (const auto* inner = dynamic_cast<const SequentialBody*>(layer.trackable().get()))
        depth_ = std::max(depth_, inner->depth_ + 1);
    if (depth_ > kMostNested)
      throw InvalidArgument("Sequential: at most " + std::to_string(kMostNested) +
                            " can stand one inside the other; list the layers in one");
  }

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
    for (const Layer& layer : layers_) {
      if (!layer.is_built()) built_here_.push_back(layer);
      y = layer(y);
    }
  }

  /// Layers that were there before keep their variables.
  void forget() override {
    for (const Layer& layer : built_here_) layer.unbuild();
    built_here_.clear();
  }

  Tensor call(const Tensor& x, const CallOptions& options) override {
    Tensor y = x;
    for (const Layer& layer : layers_) y = layer(y, options);
    return y;
  }

  const std::vector<Layer> layers_;
  int depth_ = 1;
  std::vector<Layer> built_here_;
};

}  // namespace

Sequential::Sequential(std::vector<Layer> layers) : Layer(std::make_shared<SequentialBody>(std::move(layers))) {}

}  // namespace capstan::nn
