// What all optimizers share: the step count, slots by variable identity, and the order of an update. A new optimizer
// derives from this and says what one variable's update is; slots are made when it asks for them.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "capstan/op/gradient.h"
#include "capstan/state/trackable.h"
#include "capstan/state/variable.h"

namespace capstan::optim {

class OptimizerBody : public TrackableObject {
 public:
  OptimizerBody(std::string name, double learning_rate);

  /// Drops missing gradients, updates each variable, counts. All gradients are checked before the first update.
  void apply(std::vector<Gradient> gradients, std::vector<Variable> variables);
  const Variable& iterations() const { return iterations_; }
  const Variable& learning_rate() const { return learning_rate_; }
  Variable slot(const Variable& variable, const std::string& name) const;

  std::vector<NamedChild> children() const override;
  std::vector<SlotVariable> slots() const override;
  bool keeps_slot(const std::string& slot) const override;
  void create_slot(const Variable& variable, const std::string& slot) const override;

 protected:
  /// The names of the slots that variables may have.
  virtual std::vector<std::string> slot_names() const = 0;
  virtual void update_dense(const Variable& variable, const Tensor& gradient) = 0;
  /// Rows are unique. The default makes the gradient dense.
  virtual void update_sparse(const Variable& variable, const IndexedSlices& gradient);
  /// Once per `apply`, before the variables.
  virtual void prepare() {}

  /// The slot's variable, made of zeros at the first use.
  const Variable& slot_of(const Variable& variable, const std::string& name) const;
  /// A hyperparameter in a variable's type.
  Tensor in_type(const Variable& variable, double value) const;
  Tensor learning_rate_in_type(const Variable& variable) const;

 private:
  struct Slots {
    Variable variable;
    std::map<std::string, Variable> by_name;
  };
  /// Throws InvalidArgument or TypeError if the update could not be made.
  void check(const Variable& variable, const Gradient& gradient) const;
  void check_slots(const Variable& variable, const Shape& shape) const;
  void update(const Variable& variable, const Gradient& gradient);

  const std::string name_;
  mutable std::mutex mutex_;
  Variable iterations_;
  Variable learning_rate_;
  mutable std::map<const void*, Slots> slots_;  // by the variable's identity
  mutable std::vector<const void*> order_;      // in which variables got their slots
};

/// The slices with each row once, the values of repeated rows summed.
IndexedSlices sum_repeated_rows(const IndexedSlices& slices);

}  // namespace capstan::optim
