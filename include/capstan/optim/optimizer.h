// Optimizers. `apply` takes gradients and the variables they belong to, in any of the forms that a tape gives:
//
//   optim::Adam adam{{.learning_rate = 1e-3}};
//   adam.apply(tape.gradient(loss, variables), variables);   // ranges of one length
//   adam.apply(tape.gradient(loss, table), table);           // one of each
//
// An optimizer is a handle: copies are the same optimizer. Its state (step count, slots) is keyed by the variables'
// identity and made at the first use. A variable without a gradient is left alone and named to the warning hook; if
// none has one, `apply` throws InvalidArgument. A gradient of another type or shape than its variable's is an error,
// and then no variable has changed. Two empty lists are no step. An optimizer may be used by several threads; updates
// come one after the other. `IndexedSlices` update their rows only, after repeated rows were summed, where the rule
// allows it. Formulas and defaults are those of Keras; see docs/optimizers.md.
#pragma once

#include <memory>
#include <ranges>
#include <vector>

#include "capstan/op/gradient.h"
#include "capstan/state/trackable.h"
#include "capstan/state/variable.h"

namespace capstan::optim {

/// The object behind an optimizer's handle.
class OptimizerBody;

class Optimizer {
 public:
  template <std::ranges::range Gradients, std::ranges::range Variables>
  void apply(const Gradients& gradients, const Variables& variables) const {
    apply_all({std::ranges::begin(gradients), std::ranges::end(gradients)},
              {std::ranges::begin(variables), std::ranges::end(variables)});
  }
  void apply(const Gradient& gradient, const Variable& variable) const { apply_all({gradient}, {variable}); }

  /// The number of times `apply` has updated, an int64 scalar.
  Variable iterations() const;
  /// The learning rate: a variable, so that it can be read, assigned and saved.
  Variable learning_rate() const;
  /// A slot of a variable ("momentum", "m", "v"); throws NotFound if there is none (yet).
  Variable slot(const Variable& variable, const std::string& name) const;
  std::shared_ptr<const TrackableObject> trackable() const;

 protected:
  explicit Optimizer(std::shared_ptr<OptimizerBody> body) : body_(std::move(body)) {}
  void apply_all(std::vector<Gradient> gradients, std::vector<Variable> variables) const;

  std::shared_ptr<OptimizerBody> body_;
};

struct SGDOptions {
  double learning_rate = 0.01;
  double momentum = 0;    // in [0, 1]
  bool nesterov = false;  // look ahead along the momentum
};
/// Stochastic gradient descent: w -= learning_rate * g; with momentum: v = momentum * v - learning_rate * g; w += v.
class SGD : public Optimizer {
 public:
  explicit SGD(const SGDOptions& options = {});
};

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;  // added to the root of the uncorrected second moment
};
/// Adam (Kingma and Ba, 2014) with TensorFlow's placement of epsilon. Sparse gradients move every row, as in
/// TensorFlow's rule that is not lazy.
class Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options = {});
};

}  // namespace capstan::optim
