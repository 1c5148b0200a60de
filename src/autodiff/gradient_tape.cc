#include "capstan/autodiff/gradient_tape.h"

#include <optional>

#include "autodiff/explain.h"
#include "autodiff/sweep.h"
#include "autodiff/tape.h"
#include "autodiff/value_spec.h"
#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/ops/array.h"

namespace capstan {
namespace {

/// A symbolic tensor whose shape only a run of the function tells.
bool is_known_later(const Tensor& tensor) {
  return tensor.is_symbolic() && is_plain(tensor.dtype()) && tensor.size() < 0;
}

Tensor zero_for(const Tensor& source) {
  const TensorSpec spec = value_spec(source);
  return is_known_later(source) ? zeros_like(source) : zeros(spec.shape, spec.dtype);
}

Tensor seed_for(const Tensor& target, const Tensor& given, std::size_t index) {
  const TensorSpec spec = value_spec(target);
  if (!given.is_defined()) return is_known_later(target) ? ones_like(target) : ones(spec.shape, spec.dtype);
  const std::string name = "GradientTape.gradient: output_gradients[" + std::to_string(index) + "]";
  if (given.dtype() != spec.dtype)
    throw TypeError(name + " must have the target's type " + std::string(dtype_name(spec.dtype)) + ", got " +
                    std::string(dtype_name(given.dtype())));
  if (!given.shape().is_compatible_with(spec.shape))
    throw InvalidArgument(name + " must have the target's shape " + spec.shape.to_string() + ", got " +
                          given.shape().to_string());
  return given;
}

/// One seed for each target, undefined for a target whose type has no gradient.
std::vector<Tensor> seeds_for(std::span<const Tensor> targets, std::span<const Tensor> given) {
  if (given.size() > targets.size())
    throw InvalidArgument("GradientTape.gradient: got " + std::to_string(given.size()) + " output_gradients for " +
                          std::to_string(targets.size()) + " targets");
  std::vector<Tensor> seeds;
  for (std::size_t i = 0; i < targets.size(); ++i)
    seeds.push_back(is_trainable(targets[i].dtype()) ? seed_for(targets[i], i < given.size() ? given[i] : Tensor(), i)
                                                     : Tensor());
  return seeds;
}

/// One call of `gradient`. The tape is kept meanwhile, also if a gradient function drops it, and used up at the end,
/// also if one throws.
class Sweeping {
 public:
  explicit Sweeping(Tape& tape) : tape_(tape) {
    tape_.begin_sweep();
    if (!tape_.is_persistent())
      tape_.stop();
    else if (tape_.is_recording())
      warn("GradientTape.gradient: called while the persistent tape records; its own operations are recorded too");
  }
  ~Sweeping() { tape_.end_sweep(); }
  Sweeping(const Sweeping&) = delete;
  Sweeping& operator=(const Sweeping&) = delete;

  std::vector<Gradient> gradients(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                  std::span<const Tensor> sources, UnconnectedGradients unconnected) const {
    Sweep sweep(tape_);
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (seeds[i].is_defined()) sweep.add_target(targets[i], seeds[i]);
    std::vector<Gradient> gradients = sweep.run(sources);
    if (unconnected == UnconnectedGradients::none)
      explain(gradients, targets, sources);
    else
      for (std::size_t i = 0; i < sources.size(); ++i)
        if (!gradients[i].has_value()) gradients[i] = zero_for(sources[i]);
    return gradients;
  }

 private:
  /// Says of each missing gradient why it is missing.
  void explain(std::span<Gradient> gradients, std::span<const Tensor> targets, std::span<const Tensor> sources) const {
    std::optional<Explanation> explanation;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (gradients[i].has_value()) continue;
      if (!explanation) explanation.emplace(tape_, targets);
      const std::string why = explanation->of(sources[i]);
      gradients[i] = Gradient::missing("there is no gradient: " +
                                       (why == "connected" ? "a gradient function on the way returned none" : why));
    }
  }

  Tape& tape_;
};

void check_defined(const char* function, std::span<const Tensor> tensors, const char* what) {
  for (const Tensor& tensor : tensors)
    if (!tensor.is_defined()) throw TypeError(std::string(function) + ": a " + what + " holds no tensor");
}

}  // namespace

UnconnectedGradients unconnected_gradients_from_name(std::string_view name) {
  if (name == "none") return UnconnectedGradients::none;
  if (name == "zero") return UnconnectedGradients::zero;
  throw InvalidArgument("unconnected_gradients must be 'none' or 'zero', got '" + std::string(name) + "'");
}

GradientTape::GradientTape(const GradientTapeOptions& options)
    : tape_(new Tape(options.persistent, options.watch_accessed_variables)) {
  tape_->start();
}

GradientTape::~GradientTape() {
  tape_->close();
  tape_->drop_reference();
}

void GradientTape::watch_tensor(const Tensor& tensor) {
  tape_->check_thread("GradientTape.watch");
  if (!tape_->is_recording() || thread_state().paused) return;
  if (!tensor.is_defined()) throw TypeError("GradientTape.watch: the handle holds no tensor");
  tape_->watch(tensor);
}

void GradientTape::stop() {
  tape_->check_thread("GradientTape.stop");
  tape_->stop();
}

void GradientTape::resume() {
  tape_->check_thread("GradientTape.resume");
  if (tape_->is_recording()) throw InvalidArgument("GradientTape.resume: the tape is still recording");
  if (tape_->is_used_up())
    throw FailedPrecondition("GradientTape.resume: the tape is not persistent and has given its gradient");
  tape_->start();
}

bool GradientTape::is_recording() const {
  tape_->check_thread("GradientTape.is_recording");
  return tape_->is_recording();
}

void GradientTape::reset() {
  tape_->check_thread("GradientTape.reset");
  tape_->check_idle("GradientTape.reset");
  // Tensors remember the tape that recorded them, so forgetting means to go on with another one.
  auto* fresh = new Tape(tape_->is_persistent(), tape_->watches_accessed());
  tape_->close();
  tape_->drop_reference();
  tape_ = fresh;
  tape_->start();
}

GradientTape::Paused::Paused(GradientTape& tape) : tape_(tape) {
  tape.tape_->check_thread("GradientTape.stop_recording");
  if (!tape.tape_->is_recording()) throw FailedPrecondition("GradientTape.stop_recording: the tape is not recording");
  tape.tape_->stop();
}

GradientTape::Paused::~Paused() {
  if (!tape_.tape_->is_recording() && !tape_.tape_->is_used_up()) tape_.tape_->start();
}

std::size_t GradientTape::entry_count() const {
  tape_->check_thread("GradientTape.entry_count");
  return tape_->entry_count();
}

std::vector<Gradient> GradientTape::gradients_of(const std::vector<Tensor>& targets, const std::vector<Tensor>& sources,
                                                 const GradientOptions& options) {
  tape_->check_thread("GradientTape.gradient");
  if (tape_->is_used_up())
    throw FailedPrecondition(
        "GradientTape.gradient: a tape that is not persistent gives its gradient once; make it with {.persistent = "
        "true}");
  tape_->check_idle("GradientTape.gradient");
  check_defined("GradientTape.gradient", targets, "target");
  check_defined("GradientTape.gradient", sources, "source");
  const std::vector<Tensor> seeds = seeds_for(targets, options.output_gradients);
  const Sweeping sweeping(*tape_);  // this object may be gone at its end
  return sweeping.gradients(targets, seeds, sources, options.unconnected_gradients);
}

std::string GradientTape::explain_tensors(const Tensor& target, const Tensor& source) {
  tape_->check_thread("GradientTape.explain");
  if (tape_->is_used_up())
    throw FailedPrecondition(
        "GradientTape.explain: the tape has given its gradient and forgotten; ask before, or make "
        "it with {.persistent = true}");
  check_defined("GradientTape.explain", std::span(&target, 1), "target");
  check_defined("GradientTape.explain", std::span(&source, 1), "source");
  return Explanation(*tape_, std::span(&target, 1)).of(source);
}

}  // namespace capstan
