// Reverse-mode differentiation. A tape records the operations that happen on its thread from its birth to its death, to
// `stop()`, or to its first `gradient` (unless it is persistent), as far as they depend on something it watches.
//
//   Tensor x = constant({3.f, 4.f});
//   GradientTape tape;
//   tape.watch(x);
//   Tensor y = reduce_sum(x * x);
//   Tensor dy_dx = tape.gradient(y, x);                   // [6. 8.]
//   auto [dw, db] = tape.gradient(loss, w, b);            // several sources
//   auto all = tape.gradient(loss, model_variables);      // a range of sources: a vector
//
// Trainable variables are watched when they are read. A tape belongs to the thread that made it: what other threads do
// is not recorded, and calling its functions from there throws FailedPrecondition.
// It may be destroyed on another thread; its own then frees what it kept, with its next operation or tape, so that what
// is kept by a tape that outlives its thread is freed by nobody.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "capstan/op/gradient.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

class Variable;
class Tape;

/// Something with a value behind a handle, like a variable: the tape knows it by the handle.
template <class T>
concept HasHandle = requires(const T& object) {
  { object.handle() } -> std::convertible_to<Tensor>;
};
/// What a gradient can be taken of, and with respect to.
template <class T>
concept Differentiable = HasHandle<T> || std::convertible_to<T, Tensor>;
template <class T>
concept DifferentiableRange = std::ranges::range<T> && Differentiable<std::ranges::range_value_t<T>>;

/// What stands for a source without a path to the target.
enum class UnconnectedGradients {
  none,  // nothing
  zero,  // zeros in the source's shape and type
};
/// "none" or "zero"; throws InvalidArgument for anything else.
UnconnectedGradients unconnected_gradients_from_name(std::string_view name);

struct GradientOptions {
  /// One for each target, in the target's shape and type; an undefined tensor, or none at all, means ones.
  std::vector<Tensor> output_gradients = {};
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::none;
};

struct JacobianOptions {
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::none;
  /// All rows in one backward pass, by the batching rules of the operations. Otherwise one pass per element of the
  /// target, which takes less memory and a persistent tape.
  bool vectorized = true;
};

struct GradientTapeOptions {
  bool persistent = false;               // may be asked for gradients more than once
  bool watch_accessed_variables = true;  // trainable variables are watched when they are read
};

class GradientTape {
 public:
  /// Begins to record on this thread.
  explicit GradientTape(const GradientTapeOptions& options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  /// Follows a tensor, a variable, or each of a range of them. Watching twice is watching once. A type that has no
  /// gradient (integers, strings) gives a warning, and its gradients are nothing.
  template <Differentiable Source>
  void watch(const Source& source) {
    watch_tensor(identity_tensor(source));
  }
  template <DifferentiableRange Range>
  requires(!Differentiable<Range>) void watch(const Range& sources) {
    for (const auto& source : sources) watch(source);
  }
  void watch(std::initializer_list<Tensor> sources) {
    for (const Tensor& source : sources) watch_tensor(source);
  }

  /// Ends recording; what was recorded stays. Nothing happens if it has ended.
  void stop();
  /// Goes on recording after `stop`. Throws InvalidArgument if it is still recording, FailedPrecondition if the tape
  /// has given its gradient.
  void resume();
  bool is_recording() const;
  /// Forgets all that was recorded and watched, and goes on recording.
  void reset();

  /// Pauses recording while the returned object lives. Throws FailedPrecondition if the tape is not recording.
  class Paused {
   public:
    explicit Paused(GradientTape& tape);
    ~Paused();
    Paused(const Paused&) = delete;
    Paused& operator=(const Paused&) = delete;

   private:
    GradientTape& tape_;
  };
  [[nodiscard]] Paused stop_recording() { return Paused(*this); }

  /// d(sum of target)/d(source). For one source a `Gradient`; for several an array that unpacks; for a range a vector.
  /// A range of targets adds up. Throws FailedPrecondition if a tape that is not persistent has given its gradient.
  template <class Target, Differentiable Source>
  Gradient gradient(const Target& target, const Source& source, const GradientOptions& options = {}) {
    return std::move(gradients_of(tensors_of(target), {identity_tensor(source)}, options)[0]);
  }
  template <class Target, DifferentiableRange Sources>
  requires(!Differentiable<Sources>) std::vector<Gradient> gradient(const Target& target, const Sources& sources,
                                                                    const GradientOptions& options = {}) {
    return gradients_of(tensors_of(target), tensors_of(sources), options);
  }
  template <class Target, Differentiable First, Differentiable Second, Differentiable... More>
  std::array<Gradient, 2 + sizeof...(More)> gradient(const Target& target, const First& first, const Second& second,
                                                     const More&... more) {
    auto all = gradients_of(tensors_of(target),
                            {identity_tensor(first), identity_tensor(second), identity_tensor(more)...}, {});
    std::array<Gradient, 2 + sizeof...(More)> result;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::move(all[i]);
    return result;
  }

  /// The derivative of each element of the target by each of the source: [target's shape..., source's shape...]. Slices
  /// are made dense. Throws like `gradient`; InvalidArgument if an operation on the way cannot be vectorized.
  template <Differentiable Target, Differentiable Source>
  Gradient jacobian(const Target& target, const Source& source, const JacobianOptions& options = {}) {
    return std::move(jacobians_of(identity_tensor(target), {identity_tensor(source)}, options)[0]);
  }
  template <Differentiable Target, DifferentiableRange Sources>
  requires(!Differentiable<Sources>) std::vector<Gradient> jacobian(const Target& target, const Sources& sources,
                                                                    const JacobianOptions& options = {}) {
    return jacobians_of(identity_tensor(target), tensors_of(sources), options);
  }
  /// The Jacobians of a batch: target [b, ...] and source [b, ...], of which row i depends on row i alone, give [b,
  /// target's row..., source's row...]. If rows do depend on others, their derivatives are added up. Throws
  /// InvalidArgument for ranks below 2 and for different first dimensions.
  template <Differentiable Target, Differentiable Source>
  Gradient batch_jacobian(const Target& target, const Source& source, const JacobianOptions& options = {}) {
    return batch_jacobian_of(identity_tensor(target), identity_tensor(source), options);
  }

  /// Why the gradient of `target` with respect to `source` is what it is: "connected", or where the path broke.
  template <Differentiable Target, Differentiable Source>
  std::string explain(const Target& target, const Source& source) {
    return explain_tensors(identity_tensor(target), identity_tensor(source));
  }

  /// The variables watched so far, in the order in which they were created; also after `gradient`.
  std::vector<Variable> watched_variables() const;

  /// Number of operations the tape holds now, for tests of what it keeps.
  std::size_t entry_count() const;

  /// The tensor by which a tape knows an object: itself, or a variable's handle.
  template <Differentiable T>
  static Tensor identity_tensor(const T& object) {
    if constexpr (HasHandle<T>)
      return object.handle();
    else
      return static_cast<Tensor>(object);
  }
  /// The same of one object or each of a range.
  template <class T>
  static std::vector<Tensor> tensors_of(const T& object) {
    if constexpr (Differentiable<T>) {
      return {identity_tensor(object)};
    } else {
      std::vector<Tensor> tensors;
      for (const auto& each : object) tensors.push_back(identity_tensor(each));
      return tensors;
    }
  }

 private:
  void watch_tensor(const Tensor& tensor);
  std::vector<Gradient> gradients_of(const std::vector<Tensor>& targets, const std::vector<Tensor>& sources,
                                     const GradientOptions& options);
  std::vector<Gradient> jacobians_of(const Tensor& target, const std::vector<Tensor>& sources,
                                     const JacobianOptions& options);
  Gradient batch_jacobian_of(const Tensor& target, const Tensor& source, const JacobianOptions& options);
  std::string explain_tensors(const Tensor& target, const Tensor& source);

  Tape* tape_;
};

}  // namespace capstan
