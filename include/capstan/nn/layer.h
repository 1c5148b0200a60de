// Layers. A layer is a handle to an object with variables, cheap to copy; its variables are made at the first call,
// when the input's shape is known (`build` makes them earlier).
//
//   nn::Sequential model{nn::Flatten(), nn::Dense(128, relu), nn::Dense(10)};
//   Tensor logits = model(images);
//   Tensor noisy = model(images, {.training = true});     // dropout drops, batch normalization learns its statistics
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capstan/state/trackable.h"
#include "capstan/state/variable.h"

namespace capstan::nn {

struct CallOptions {
  bool training = false;
};

/// The object behind a layer's handle; derive from it to write a layer of one's own. Several threads may call a layer;
/// the first call, which makes the variables, is alone.
class LayerBody : public TrackableObject {
 public:
  explicit LayerBody(std::string name) : name_(std::move(name)) {}

  /// Makes the variables for inputs of that shape at the first call, and computes the output. If the first call fails,
  /// there are no variables, as before: the next one may bring another shape.
  Tensor operator()(const Tensor& x, const CallOptions& options);
  /// Makes the variables if there are none yet.
  void build_once(const Shape& input);
  bool is_built() const { return is_built_.load(std::memory_order_acquire); }
  /// Takes the variables away again; for layers made of layers, when building a later one fails.
  void unbuild();
  const std::string& name() const { return name_; }
  std::vector<NamedChild> children() const override { return {}; }

 protected:
  /// Makes variables. The shape's first dimension is the batch's; dimensions may be unknown.
  virtual void build(const Shape& /*input*/) {}
  /// Drops what `build` made, all or part of it.
  virtual void forget() {}
  virtual Tensor call(const Tensor& x, const CallOptions& options) = 0;

 private:
  void build_or_forget(const Shape& input);

  const std::string name_;
  std::mutex building_;
  std::atomic<bool> is_built_ = false;
};

class Layer {
 public:
  explicit Layer(std::shared_ptr<LayerBody> body) : body_(std::move(body)) {}

  Tensor operator()(const Tensor& x, const CallOptions& options = {}) const { return (*body_)(x, options); }
  /// Makes the variables for inputs of that shape, if there are none yet.
  void build(const Shape& input) const { body_->build_once(input); }
  bool is_built() const { return body_->is_built(); }
  /// Takes the variables away; the next call makes new ones. For layers made of layers.
  void unbuild() const { body_->unbuild(); }
  std::vector<Variable> variables() const { return variables_of(*this); }
  std::vector<Variable> trainable_variables() const { return trainable_variables_of(*this); }
  const std::string& name() const { return body_->name(); }
  std::shared_ptr<const TrackableObject> trackable() const { return body_; }

 protected:
  std::shared_ptr<LayerBody> body_;
};

/// What follows a layer's product: nothing, an op such as `relu`, or any function of one tensor.
class Activation {
 public:
  Activation() = default;
  Activation(Tensor (*function)(Tensor)) : function_(function) {}
  template <class Function>
  requires(std::is_invocable_r_v<Tensor, Function, Tensor> && !std::is_pointer_v<std::decay_t<Function>>)
      Activation(Function function)
      : function_(std::move(function)) {}
  Tensor operator()(Tensor x) const { return function_ ? function_(std::move(x)) : x; }

 private:
  std::function<Tensor(Tensor)> function_;
};

/// Layers one after the other.
class Sequential : public Layer {
 public:
  template <std::convertible_to<Layer>... Layers>
  explicit Sequential(const Layers&... layers) : Sequential(std::vector<Layer>{layers...}) {}
  explicit Sequential(std::vector<Layer> layers);
};

}  // namespace capstan::nn
