#include "capstan/autodiff/gradient_registry.h"

#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "autodiff/fit.h"
#include "autodiff/op_gradient.h"
#include "capstan/base/error.h"

namespace capstan {
namespace {

bool has_gradient(const OpDef& op) { return op.gradient || op.gradient.is_not_differentiable(); }

RegisteredGradient from_record(const OpDef& op) {
  RegisteredGradient entry{std::string(op.name()), {}};
  if (!op.gradient.is_not_differentiable())
    entry.function = [gradient = op.gradient](const OpCall& call, std::span<const Gradient> dy) {
      std::vector<Gradient> seeds(dy.begin(), dy.end()), gradients(call.input_count());
      gradient(call, seeds, gradients);
      return gradients;
    };
  return entry;
}

/// The op of that name if its record has a gradient or the mark of none.
const OpDef* record_with_gradient(std::string_view op_type) {
  try {
    const OpDef& op = find_op(op_type).def();
    return has_gradient(op) ? &op : nullptr;
  } catch (const NotFound&) {
    return nullptr;
  }
}

class Table {
 public:
  // Never destroyed: tapes of other threads may outlive main.
  static Table& instance() {
    static Table* const table = new Table;
    return *table;
  }

  void add(const char* caller, std::string_view op_type, OpGradientFunction function) {
    if (op_type.empty()) throw InvalidArgument(std::string(caller) + ": needs the name of an operation, got ''");
    if (record_with_gradient(op_type)) fail_exists(caller, op_type);
    const std::unique_lock lock(mutex_);
    if (!functions_.try_emplace(std::string(op_type), std::move(function)).second) fail_exists(caller, op_type);
  }

  /// Copied, so that it may be called without the lock.
  std::optional<OpGradientFunction> find(std::string_view op_type) const {
    const std::shared_lock lock(mutex_);
    const auto found = functions_.find(op_type);
    if (found == functions_.end()) return std::nullopt;
    return found->second;
  }

  std::map<std::string, OpGradientFunction, std::less<>> all() const {
    const std::shared_lock lock(mutex_);
    return functions_;
  }

 private:
  [[noreturn]] static void fail_exists(const char* caller, std::string_view op_type) {
    throw AlreadyExists(std::string(caller) + ": '" + std::string(op_type) +
                        "' has a gradient, or is marked as not differentiable, already");
  }

  mutable std::shared_mutex mutex_;
  std::map<std::string, OpGradientFunction, std::less<>> functions_;
};

}  // namespace

void register_gradient(std::string_view op_type, OpGradientFunction function) {
  if (!function) throw InvalidArgument("register_gradient: the function for '" + std::string(op_type) + "' is empty");
  Table::instance().add("register_gradient", op_type, std::move(function));
}

void register_not_differentiable(std::string_view op_type) {
  Table::instance().add("register_not_differentiable", op_type, {});
}

RegisteredGradient lookup_gradient(std::string_view op_type) {
  if (const OpDef* op = record_with_gradient(op_type)) return from_record(*op);
  if (auto function = Table::instance().find(op_type)) return {std::string(op_type), std::move(*function)};
  throw NotFound("lookup_gradient: no gradient is registered for '" + std::string(op_type) + "'");
}

std::vector<RegisteredGradient> registered_gradients() {
  std::map<std::string, RegisteredGradient> by_name;
  for (auto& [op_type, function] : Table::instance().all()) by_name[op_type] = {op_type, function};
  for (const Op& op : all_ops())
    if (has_gradient(op.def())) by_name[std::string(op.name())] = from_record(op.def());
  std::vector<RegisteredGradient> all;
  for (auto& [op_type, entry] : by_name) all.push_back(std::move(entry));
  return all;
}

bool is_registered_as_none(const OpDef& op) {
  const auto registered = Table::instance().find(op.name());
  return registered && !*registered;
}

bool has_no_gradient(const OpDef& op) { return !has_gradient(op) && !Table::instance().find(op.name()); }

namespace {

std::vector<TensorSpec> input_values(const OpCall& call) {
  std::vector<TensorSpec> values;
  for (std::size_t i = 0; i < call.input_count(); ++i)
    values.push_back(call.has_input(i) ? value_spec(call.input(i))
                                       : TensorSpec{call.input_dtype(i), call.input_shape(i)});
  return values;
}

void call_registered(const OpCall& call, std::span<const Gradient> dy, std::span<Gradient> dx) {
  const std::string name(call.op().name());
  const auto function = Table::instance().find(name);
  if (!function) throw NotFound(name + ": no gradient is registered for this operation");
  if (!*function) return;  // not differentiable
  std::vector<Gradient> gradients = (*function)(call, dy);
  if (gradients.size() != dx.size())
    throw InvalidArgument(name + ": its registered gradient function returned " + std::to_string(gradients.size()) +
                          " gradients, expected " + std::to_string(dx.size()) + " (one for each input)");
  check_fit(name, gradients, input_values(call), "input");
  std::move(gradients.begin(), gradients.end(), dx.begin());
}

void call_wherever(const OpCall& call, std::span<Gradient> dy, std::span<Gradient> dx) {
  if (call.op().gradient)
    call.op().gradient(call, dy, dx);
  else
    call_registered(call, dy, dx);
}

}  // namespace

void run_op_gradient(const OpCall& call, std::span<Gradient> dy, std::span<Gradient> dx) {
  if (!is_logging_gradients()) [[likely]]
    return call_wherever(call, dy, dx);
  const std::vector<Gradient> given(dy.begin(), dy.end());  // the function may take them
  call_wherever(call, dy, dx);
  log_gradient(call.op().name(), &call, given, dx);
}

}  // namespace capstan
