#include "capstan/state/variable.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <shared_mutex>

#include "autodiff/tape.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "function/created_variables.h"
#include "ops/state.h"
#include "ops/variable_resource.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

/// The storage, or while tracing a description of it.
Resource& resource(const Tensor& handle) { return *resource_of(handle); }
VariableResource& storage(const Tensor& handle) { return variable_of(handle, "Variable"); }

/// The order in which variables were made; descriptions come first.
std::uint64_t creation_of(const Tensor& handle) { return handle.is_symbolic() ? 0 : storage(handle).sequence(); }

Tensor new_handle(const std::string& name, DType dtype, const Shape& shape) {
  const VarHandleAttributes attributes{.container = "", .shared_name = name, .dtype = dtype, .shape = shape};
  return apply(var_handle_op, {}, &attributes);
}

Tensor initial_in_type(Tensor value, const VariableOptions& options) {
  if (!value.is_defined())
    throw InvalidArgument("Variable: initial_value holds no tensor; give a tensor, a number or a function");
  return options.dtype == DType::invalid ? value : constant_as(value, options.dtype);
}

}  // namespace

Variable::Variable(Tensor initial_value, const VariableOptions& options) {
  const Tensor value = initial_in_type(std::move(initial_value), options);
  const Shape shape = options.shape.value_or(value.shape());
  if (!shape.is_compatible_with(value.shape()))
    throw InvalidArgument("Variable '" + options.name + "': the initial value's shape " + value.shape().to_string() +
                          " is not compatible with the declared shape " + shape.to_string());
  const bool by_default = options.synchronization != VariableSynchronization::on_read;
  info_ = std::make_shared<const Info>(
      Info{options.trainable.value_or(by_default), options.synchronization, options.aggregation});
  // The variable lives outside of a function that is being traced.
  std::optional<InitScope> eager;
  if (is_tracing()) eager.emplace();
  handle_ = new_handle(options.name, value.dtype(), shape);
  storage(handle_).set_trainable(info_->trainable);
  storage(handle_).set_info(info_);
  if (!value.is_symbolic()) {
    const AssignAttributes attributes{.dtype = value.dtype(), .validate_shape = false};
    apply_all(assign_variable_op, {handle_, value}, &attributes);
  }
  eager.reset();
  note_created_variable(handle_, value.is_symbolic() ? value : Tensor());
}

Variable Variable::from_handle(const Tensor& handle) {
  if (!handle.is_defined() || handle.dtype() != DType::resource)
    throw TypeError("Variable::from_handle: needs a tensor of type resource");
  Variable variable;
  variable.handle_ = handle;
  std::shared_ptr<const void> known;
  if (!handle.is_symbolic()) known = variable_of(handle, "Variable::from_handle").info();
  variable.info_ = known ? std::static_pointer_cast<const Info>(known)
                         : std::make_shared<const Info>(Info{resource(handle).is_trainable(), {}, {}});
  return variable;
}

Tensor Variable::value() const {
  if (info_->trainable && thread_state().observers) watch_accessed_variable(handle_);
  const VariableAttributes attributes{dtype()};
  return apply(read_variable_op, {handle_}, &attributes);
}

std::string Variable::name() const { return resource(handle_).name() + ":0"; }
DType Variable::dtype() const { return resource(handle_).value_dtype(); }
Shape Variable::shape() const { return resource(handle_).value_shape(); }
bool Variable::is_same(const Variable& other) const { return resource_of(handle_) == resource_of(other.handle_); }

bool Variable::is_initialized() const {
  std::shared_lock lock(storage(handle_).mutex());
  return storage(handle_).is_initialized();
}

Tensor Variable::converted(Operand& value, const char* function) const {
  const Tensor given = value.is_number() ? constant_as(value.tensor(), dtype()) : value.tensor();
  if (given.dtype() != dtype())
    throw TypeError(std::string("Variable.") + function + ": wrong dtype for '" + name() + "': expected " +
                    std::string(dtype_name(dtype())) + ", got " + std::string(dtype_name(given.dtype())) +
                    "; tensors are never converted silently, use cast");
  return given;
}

const Variable& Variable::assign(Operand value) const {
  const AssignAttributes attributes{.dtype = dtype(), .validate_shape = true};
  apply_all(assign_variable_op, {handle_, converted(value, "assign")}, &attributes);
  return *this;
}

const Variable& Variable::assign_add(Operand value) const {
  const VariableAttributes attributes{dtype()};
  apply_all(assign_add_variable_op, {handle_, converted(value, "assign_add")}, &attributes);
  return *this;
}

const Variable& Variable::assign_sub(Operand value) const {
  const VariableAttributes attributes{dtype()};
  apply_all(assign_sub_variable_op, {handle_, converted(value, "assign_sub")}, &attributes);
  return *this;
}

namespace {

void scatter(const OpDef& op, const Tensor& handle, const IndexedSlices& slices) {
  const VariableAttributes attributes{resource(handle).value_dtype()};
  apply_all(op, {handle, slices.indices, slices.values}, &attributes);
}

}  // namespace

const Variable& Variable::scatter_add(const IndexedSlices& slices) const {
  scatter(resource_scatter_add_op, handle_, slices);
  return *this;
}
const Variable& Variable::scatter_sub(const IndexedSlices& slices) const {
  scatter(resource_scatter_sub_op, handle_, slices);
  return *this;
}
const Variable& Variable::scatter_update(const IndexedSlices& slices) const {
  scatter(resource_scatter_update_op, handle_, slices);
  return *this;
}

Tensor Variable::sparse_read(const Tensor& indices) const {
  if (info_->trainable && thread_state().observers) watch_accessed_variable(handle_);
  const ResourceGatherAttributes attributes{.batch_dims = 0, .validate_indices = true, .dtype = dtype()};
  return apply(resource_gather_op, {handle_, indices}, &attributes);
}

Tensor gather(const Variable& variable, const Tensor& indices) { return variable.sparse_read(indices); }

Variable Variable::clone() const {
  std::string bare = resource(handle_).name();
  return Variable(value(), {.name = std::move(bare),
                            .trainable = trainable(),
                            .shape = shape(),
                            .synchronization = synchronization(),
                            .aggregation = aggregation()});
}

std::string Variable::to_string() const {
  std::string text = "<Variable '" + name() + "' shape=" + shape().to_string() +
                     " dtype=" + std::string(dtype_name(dtype())) + ", value=";
  try {
    const PauseObservers silent;
    return text + value().to_string() + ">";
  } catch (const Error&) {
    return text + "<unavailable>>";
  }
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) { return out << variable.to_string(); }

// Declared by the tape, which knows variables by their handles only.
std::vector<Variable> GradientTape::watched_variables() const {
  tape_->check_thread("GradientTape.watched_variables");
  std::vector<Variable> variables;
  for (const Tensor& handle : tape_->watched_handles()) variables.push_back(Variable::from_handle(handle));
  std::stable_sort(variables.begin(), variables.end(), [](const Variable& a, const Variable& b) {
    return creation_of(a.handle()) < creation_of(b.handle());
  });
  return variables;
}

}  // namespace capstan
