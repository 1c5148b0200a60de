// Forward-mode differentiation: from tangents of some tensors to those of everything computed from them, along with the
// computation.
//
//   ForwardAccumulator forward(x, v);
//   Tensor y = tanh(x);
//   Tensor jv = forward.jvp(y);      // J·v
//
// Accumulators and tapes nest in any order: what one computes, those begun before it see. So a tape begun inside an
// accumulator, whose `gradient` the accumulator follows, gives Hessian times vector:
//
//   ForwardAccumulator forward(x, v);
//   GradientTape tape;
//   tape.watch(x);
//   Tensor hv = forward.jvp(tape.gradient(f(x), x));
#pragma once

#include <initializer_list>
#include <vector>

#include "capstan/autodiff/gradient_tape.h"

namespace capstan {

class Accumulator;

struct ForwardAccumulatorOptions {
  /// Tangents have one more dimension in front, of so many directions that go together in one pass; -1: one direction,
  /// without that dimension. `jvp` answers in the same form. Throws InvalidArgument for less than -1.
  std::int64_t directions = -1;
};

class ForwardAccumulator {
 public:
  /// Begins to follow this thread's operations, without a primal.
  explicit ForwardAccumulator(const ForwardAccumulatorOptions& options = {});
  /// Begins with tangents of some tensors or variables: see `watch`.
  template <Differentiable Primal>
  ForwardAccumulator(const Primal& primal, const Tensor& tangent, const ForwardAccumulatorOptions& options = {})
      : ForwardAccumulator(options) {
    watch(primal, tangent);
  }
  template <DifferentiableRange Primals>
  requires(!Differentiable<Primals>) ForwardAccumulator(const Primals& primals, const std::vector<Tensor>& tangents,
                                                        const ForwardAccumulatorOptions& options = {})
      : ForwardAccumulator(options) {
    watch_all(GradientTape::tensors_of(primals), tangents);
  }
  ForwardAccumulator(std::initializer_list<Tensor> primals, std::initializer_list<Tensor> tangents,
                     const ForwardAccumulatorOptions& options = {});
  ~ForwardAccumulator();
  ForwardAccumulator(const ForwardAccumulator&) = delete;
  ForwardAccumulator& operator=(const ForwardAccumulator&) = delete;

  /// Adds a tangent to a tensor or variable; a second one adds up. Throws InvalidArgument for another shape, TypeError
  /// for another type. A primal that has no derivatives (an integer) gives a warning.
  template <Differentiable Primal>
  void watch(const Primal& primal, const Tensor& tangent) {
    watch_tensor(GradientTape::identity_tensor(primal), tangent);
  }

  /// The tangent of a tensor or variable; nothing if it does not depend on the primals, or zeros if asked for. Computes
  /// nothing and may be asked any number of times, also after `stop`. The tangent of a missing gradient is missing,
  /// that of slices is slices; tangents of slices in many directions are made dense.
  template <Differentiable Target>
  Gradient jvp(const Target& target, UnconnectedGradients unconnected = UnconnectedGradients::none) const {
    return jvp_of(GradientTape::identity_tensor(target), unconnected);
  }
  Gradient jvp(const Gradient& target, UnconnectedGradients unconnected = UnconnectedGradients::none) const;
  template <DifferentiableRange Targets>
  requires(!Differentiable<Targets>) std::vector<Gradient> jvp(
      const Targets& targets, UnconnectedGradients unconnected = UnconnectedGradients::none)
  const {
    std::vector<Gradient> all;
    for (const auto& target : targets) all.push_back(jvp(target, unconnected));
    return all;
  }

  /// Stops following; the tangents stay.
  void stop();
  /// Goes on. Throws InvalidArgument if it is following.
  void resume();
  bool is_recording() const;

 private:
  void watch_tensor(const Tensor& primal, const Tensor& tangent);
  void watch_all(const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents);
  Gradient jvp_of(const Tensor& target, UnconnectedGradients unconnected) const;

  const std::int64_t directions_;
  Accumulator* const accumulator_;
};

}  // namespace capstan
