#include "capstan/optim/optimizer.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/partition.h"
#include "capstan/ops/segment.h"
#include "function/created_variables.h"
#include "op/observer.h"
#include "optim/optimizer_body.h"
#include "tensor/storage.h"

namespace capstan::optim {
namespace {

const void* key(const Variable& variable) { return resource_of(variable.handle()); }

/// The shape of the value; while a function is traced the declared one.
Shape shape_now(const Variable& variable) { return is_tracing() ? variable.shape() : variable.value().shape(); }

std::vector<std::int64_t> rows_of(const IndexedSlices& slices) {
  const Tensor& rows = slices.indices;
  if (rows.dtype() == DType::int64) return rows.to_vector<std::int64_t>();
  const auto narrow = rows.values<std::int32_t>();
  return {narrow.begin(), narrow.end()};
}

/// The shape of the values of `count` rows of a tensor.
Shape rows_shape(const Shape& whole, std::int64_t count) {
  Shape shape = whole;
  shape.set_dim(0, count);
  return shape;
}

void check_slices(const std::string& what, const IndexedSlices& slices, const Shape& whole) {
  const DType dtype = slices.indices.dtype();
  if (dtype != DType::int32 && dtype != DType::int64)
    throw TypeError(what + ": indices must be int32 or int64, got " + std::string(dtype_name(dtype)));
  if (whole.rank() < 1 || slices.indices.rank() != 1 ||
      !slices.values.shape().is_compatible_with(rows_shape(whole, slices.indices.size())))
    throw InvalidArgument(what + ": slices must be rows of shape " + whole.to_string() + ", got indices " +
                          slices.indices.shape().to_string() + " and values " + slices.values.shape().to_string());
  if (slices.indices.is_symbolic()) return;  // the update looks at the rows when it runs
  for (const std::int64_t row : rows_of(slices))
    if (row < 0 || row >= whole[0])
      throw InvalidArgument(what + ": row " + std::to_string(row) + " is not in [0, " + std::to_string(whole[0]) + ")");
}

}  // namespace

OptimizerBody::OptimizerBody(std::string name, double learning_rate)
    : name_(std::move(name)),
      iterations_(constant(std::int64_t{0}), {.name = "iter", .trainable = false}),
      learning_rate_(constant(static_cast<float>(learning_rate)), {.name = "learning_rate", .trainable = false}) {}

void OptimizerBody::apply(std::vector<Gradient> gradients, std::vector<Variable> variables) {
  if (gradients.size() != variables.size())
    throw InvalidArgument(name_ + ".apply: needs one gradient per variable, got " + std::to_string(gradients.size()) +
                          " gradients and " + std::to_string(variables.size()) + " variables");
  if (variables.empty()) return;  // as in Keras: nothing is updated, and no step counted
  std::string without;
  bool any = false;
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
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (gradients[i].has_value()) check(variables[i], gradients[i]);
  prepare();
  for (std::size_t i = 0; i < variables.size(); ++i)
    if (gradients[i].has_value()) update(variables[i], gradients[i]);
  iterations_.assign_add(std::int64_t{1});
}

void OptimizerBody::check(const Variable& variable, const Gradient& gradient) const {
  const std::string what = name_ + ".apply: the gradient of '" + variable.name() + "'";
  const Shape shape = shape_now(variable);
  const DType dtype = gradient.is_slices() ? gradient.slices().values.dtype() : gradient.tensor().dtype();
  if (dtype != variable.dtype())
    throw TypeError(what + " must have the variable's type " + std::string(dtype_name(variable.dtype())) + ", got " +
                    std::string(dtype_name(dtype)));
  if (gradient.is_slices())
    check_slices(what, gradient.slices(), shape);
  else if (!gradient.tensor().shape().is_compatible_with(shape))
    throw InvalidArgument(what + " must have the variable's shape " + shape.to_string() + ", got " +
                          gradient.tensor().shape().to_string());
  check_slots(variable, shape);
}

void OptimizerBody::check_slots(const Variable& variable, const Shape& shape) const {
  const auto found = slots_.find(key(variable));
  if (found == slots_.end()) return;
  for (const auto& [name, slot] : found->second.by_name)
    if (const Shape of_slot = shape_now(slot); !of_slot.is_compatible_with(shape))
      throw FailedPrecondition(name_ + ".apply: variable '" + variable.name() + "' now has shape " + shape.to_string() +
                               ", its slot '" + name + "' was made with " + of_slot.to_string() +
                               "; use a new optimizer");
}

void OptimizerBody::update(const Variable& variable, const Gradient& gradient) {
  if (gradient.is_slices())
    update_sparse(variable, sum_repeated_rows(gradient.slices()));
  else
    update_dense(variable, gradient.tensor());
}

void OptimizerBody::update_sparse(const Variable& variable, const IndexedSlices& gradient) {
  // The rows were checked against the variable, and what the slices say of its shape may be nothing.
  update_dense(variable, to_tensor({gradient.values, gradient.indices, shape_of(variable.value())}));
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
  // A function that is being traced does not make the slot, it finds it.
  std::optional<InitScope> eager;
  if (is_tracing()) eager.emplace();
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

bool OptimizerBody::keeps_slot(const std::string& slot) const {
  const auto names = slot_names();
  return std::find(names.begin(), names.end(), slot) != names.end();
}

void OptimizerBody::create_slot(const Variable& variable, const std::string& slot) const {
  std::lock_guard lock(mutex_);
  if (keeps_slot(slot)) slot_of(variable, slot);
}

std::vector<NamedChild> OptimizerBody::children() const {
  return {{"iter", iterations_}, {"learning_rate", learning_rate_}};
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
  return cast(learning_rate_.value(), variable.dtype());
}

namespace {

/// The same by operations, for rows that are known only when the function runs.
IndexedSlices sum_repeated_rows_later(const IndexedSlices& slices) {
  const auto [rows, place] = unique(slices.indices);
  return {unsorted_segment_sum(slices.values, place, size_of(rows)), rows, slices.dense_shape};
}

}  // namespace

IndexedSlices sum_repeated_rows(const IndexedSlices& slices) {
  if (slices.indices.is_symbolic()) return sum_repeated_rows_later(slices);
  const std::int64_t count = slices.indices.size();
  std::unordered_map<std::int64_t, std::int32_t> place;
  std::vector<std::int32_t> segment;
  std::vector<std::int64_t> rows;
  for (const std::int64_t row : rows_of(slices)) {
    const auto [at, is_new] = place.try_emplace(row, static_cast<std::int32_t>(rows.size()));
    if (is_new) rows.push_back(row);
    segment.push_back(at->second);
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
