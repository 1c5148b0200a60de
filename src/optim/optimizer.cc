#include "capstan/optim/optimizer.h"

#include <algorithm>
#include <unordered_map>

#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/ops/array.h"
#include "capstan/ops/segment.h"
#include "op/observer.h"
#include "optim/optimizer_body.h"
#include "tensor/storage.h"

namespace capstan::optim {
namespace {

const void* key(const Variable& variable) { return resource_of(variable.handle()); }

}  // namespace

OptimizerBody::OptimizerBody(std::string name, double learning_rate)
    : name_(std::move(name)),
      iterations_(constant(std::int64_t{0}), {.name = "iter", .trainable = false}),
      learning_rate_(constant(static_cast<float>(learning_rate)), {.name = "learning_rate", .trainable = false}) {}

void OptimizerBody::apply(std::vector<Gradient> gradients, std::vector<Variable> variables) {
  if (gradients.size() != variables.size())
    throw InvalidArgument(name_ + ".apply: needs one gradient per variable, got " + std::to_string(gradients.size()) +
                          " gradients and " + std::to_string(variables.size()) + " variables");
  std::string without;
  bool any = variables.empty();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (gradients[i].has_value())
      any = true;
    else
      without += (without.empty() ? "" : ", ") + variables[i].name();
  }
  if (!any)
    throw InvalidArgument(name_ + ".apply: no variable has a gradient (" + without + "): " + gradients[0].reason());
  if (!without.empty()) warn(name_ + ".apply: variables without a gradient are left alone: " + without);

  const PauseObservers silent;  // an update is no part of anybody's derivative
  std::lock_guard lock(mutex_);
  prepare();
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (gradients[i].has_value()) update(variables[i], gradients[i]);
  iterations_.assign_add(std::int64_t{1});
}

void OptimizerBody::update(const Variable& variable, const Gradient& gradient) {
  if (gradient.is_slices())
    update_sparse(variable, sum_repeated_rows(gradient.slices()));
  else
    update_dense(variable, gradient.tensor());
}

void OptimizerBody::update_sparse(const Variable& variable, const IndexedSlices& gradient) {
  update_dense(variable, to_tensor(gradient));
}

const Variable& OptimizerBody::slot_of(const Variable& variable, const std::string& name) const {
  auto found = slots_.find(key(variable));
  if (found == slots_.end()) {
    found = slots_.emplace(key(variable), Slots{variable, {}}).first;
    order_.push_back(key(variable));
  }
  auto& by_name = found->second.by_name;
  const auto slot = by_name.find(name);
  if (slot != by_name.end()) return slot->second;
  std::string variable_name = variable.name();
  variable_name.resize(variable_name.size() - 2);  // without ":0"
  return by_name
      .emplace(name, Variable(zeros(variable.value().shape(), variable.dtype()),
                              {.name = variable_name + "/" + name, .trainable = false}))
      .first->second;
}

Variable OptimizerBody::slot(const Variable& variable, const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto found = slots_.find(key(variable));
  if (found != slots_.end()) {
    const auto slot = found->second.by_name.find(name);
    if (slot != found->second.by_name.end()) return slot->second;
  }
  throw NotFound(name_ + ": variable '" + variable.name() + "' has no slot '" + name + "'");
}

void OptimizerBody::create_slot(const Variable& variable, const std::string& slot) const {
  std::lock_guard lock(mutex_);
  const auto names = slot_names();
  if (std::find(names.begin(), names.end(), slot) != names.end()) slot_of(variable, slot);
}

std::vector<NamedChild> OptimizerBody::hyperparameters() const { return {{"learning_rate", learning_rate_}}; }

std::vector<NamedChild> OptimizerBody::children() const {
  std::vector<NamedChild> all{{"iter", iterations_}};
  for (NamedChild& each : hyperparameters()) all.push_back(std::move(each));
  return all;
}

std::vector<SlotVariable> OptimizerBody::slots() const {
  std::lock_guard lock(mutex_);
  std::vector<SlotVariable> all;
  for (const void* at : order_)
    for (const auto& [name, value] : slots_.at(at).by_name) all.push_back({slots_.at(at).variable, name, value});
  return all;
}

Tensor OptimizerBody::in_type(const Variable& variable, double value) const {
  return constant_as(constant(value), variable.dtype());
}

Tensor OptimizerBody::learning_rate_in_type(const Variable& variable) const {
  return in_type(variable, static_cast<double>(learning_rate_.value().item<float>()));
}

IndexedSlices sum_repeated_rows(const IndexedSlices& slices) {
  const std::int64_t count = slices.indices.size();
  std::unordered_map<std::int64_t, std::int32_t> place;
  std::vector<std::int32_t> segment(static_cast<std::size_t>(count));
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const std::int64_t row = slices.indices.dtype() == DType::int32 ? slices.indices.values<std::int32_t>()[i]
                                                                    : slices.indices.values<std::int64_t>()[i];
    const auto [at, is_new] = place.try_emplace(row, static_cast<std::int32_t>(rows.size()));
    if (is_new) rows.push_back(row);
    segment[i] = at->second;
  }
  if (static_cast<std::int64_t>(rows.size()) == count) return slices;
  const Tensor summed =
      unsorted_segment_sum(slices.values, constant(segment), constant(static_cast<std::int32_t>(rows.size())));
  return {summed, constant_as(constant(rows), slices.indices.dtype()), slices.dense_shape};
}

void Optimizer::apply_all(std::vector<Gradient> gradients, std::vector<Variable> variables) const {
  body_->apply(std::move(gradients), std::move(variables));
}
Variable Optimizer::iterations() const { return body_->iterations(); }
Variable Optimizer::learning_rate() const { return body_->learning_rate(); }
Variable Optimizer::slot(const Variable& variable, const std::string& name) const {
  return body_->slot(variable, name);
}
std::shared_ptr<const TrackableObject> Optimizer::trackable() const { return body_; }

}  // namespace capstan::optim
