#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "capstan/base/error.h"
#include "op/runtime.h"

namespace capstan {
namespace {

using detail::OpRuntime;

[[noreturn]] void fail_record(const OpDef& op, const std::string& why) {
  throw InvalidArgument("define_op: " + std::string(op.name()) + ": " + why);
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

template <class T>
const AttributeField* field_of(const OpDef& op, const AttributeSchema* schema, std::string_view name,
                               const char* kind) {
  const AttributeField* field = schema ? schema->find(name) : nullptr;
  if (field && field->kind != AttributeValue(T{}).index())
    fail_record(op, "attribute " + quoted(name) + " must be " + kind + ", as the signature uses it");
  return field;
}

/// Every type variable gets its type from an input or from an attribute of its name.
void check_types(const OpDef& op, const OpRuntime& runtime) {
  const Signature& signature = runtime.signature;
  for (std::size_t i = 0; i < signature.type_variables.size(); ++i) {
    const std::string& name = signature.type_variables[i].name;
    const bool has_field = field_of<DType>(op, runtime.schema, name, "a type");
    const auto uses = [&](const Argument& argument) { return argument.type_variable == static_cast<int>(i); };
    if (!has_field && std::ranges::none_of(signature.inputs, uses))
      fail_record(op, "no input has type " + quoted(name) + " and no attribute has that name");
  }
}

/// The length of a list among the outputs is that of the lists among the inputs or an attribute of its name.
void check_list_lengths(const OpDef& op, const OpRuntime& runtime) {
  const Signature& signature = runtime.signature;
  for (const Argument& output : signature.outputs) {
    if (!output.is_list) continue;
    if (output.is_mixed) {
      const bool has_types = field_of<std::vector<DType>>(op, runtime.schema, output.count_name, "a list of types");
      if (!has_types && std::ranges::none_of(signature.inputs, [&](const Argument& input) {
            return input.is_mixed && input.count_name == output.count_name;
          }))
        fail_record(op, "nothing says which types the mixed list " + quoted(output.name) +
                            " of outputs has; give it an attribute " + quoted(output.count_name));
      continue;
    }
    const bool has_field = field_of<std::int64_t>(op, runtime.schema, output.count_name, "an integer");
    if (!has_field && std::ranges::none_of(signature.inputs, &Argument::is_list))
      fail_record(op, "nothing says how long the list " + quoted(output.name) +
                          " of outputs is; give it an attribute " + quoted(output.count_name));
  }
}

class Registry {
 public:
  // Never destroyed: tensors and threads may outlive main.
  static Registry& instance() {
    static Registry* const registry = new Registry;
    return *registry;
  }

  const OpDef* add(OpDef def) {
    std::unique_lock lock(mutex_);
    if (!def.shape) throw InvalidArgument("define_op: " + std::string(def.name()) + " needs a shape function");
    strings_.emplace_back(def.signature);
    def.signature = strings_.back();
    strings_.emplace_back(def.summary);
    def.summary = strings_.back();
    def.runtime = nullptr;
    user_ops_.push_back(def);
    try {
      enter(user_ops_.back(), def.cpu);
    } catch (...) {
      user_ops_.pop_back();
      throw;
    }
    return &user_ops_.back();
  }

  const OpDef* find(std::string_view name) const {
    std::shared_lock lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  std::vector<Op> all() const {
    std::shared_lock lock(mutex_);
    std::vector<Op> ops;
    for (const auto& [name, op] : by_name_) ops.emplace_back(*op);
    return ops;
  }

  std::string similar_names(std::string_view name) const {
    std::shared_lock lock(mutex_);
    std::string text;
    for (const auto& [known, op] : by_name_)
      if (known.find(name) != std::string_view::npos || name.find(known) != std::string_view::npos)
        text += (text.empty() ? "" : ", ") + std::string(known);
    return text;
  }

 private:
  Registry() {
    // Kernels first: another thread may use an op as soon as its runtime is seen, while this goes on.
    std::map<const OpDef*, KernelSet> kernels;
    for (const KernelRow& row : builtin_kernels()) kernels[row.op] = row.kernels;
    for (const OpDef* op : builtin_ops()) {
      const auto found = kernels.find(op);
      enter(*op, found == kernels.end() ? KernelSet{} : found->second);
      if (found != kernels.end()) kernels.erase(found);
    }
    for (const OpDef* op : function_ops()) enter(*op, op->cpu);
    if (!kernels.empty())
      throw Internal("kernel table: " + std::string(kernels.begin()->first->name()) + " is in no family's list of ops");
  }

  void enter(const OpDef& op, const KernelSet& kernels) {
    OpRuntime runtime;
    runtime.signature = parse_signature(op.signature);
    if (by_name_.contains(op.name()))
      throw AlreadyExists("define_op: an op named " + std::string(op.name()) + " exists already");
    runtime.kernels = kernels;
    if (op.attributes) {
      runtime.schema = &op.attributes();
      runtime.default_attributes = runtime.schema->defaults.get();
    }
    check_types(op, runtime);
    check_list_lengths(op, runtime);
    runtime.is_simple = is_simple(runtime.signature);
    runtime.index = static_cast<int>(runtimes_.size());
    runtimes_.push_back(std::move(runtime));
    by_name_.emplace(op.name(), &op);
    std::atomic_ref(op.runtime).store(&runtimes_.back(), std::memory_order_release);
  }

  static bool is_simple(const Signature& signature) {
    if (signature.outputs.size() != 1 || signature.type_variables.size() != 1) return false;
    for (const auto* list : {&signature.inputs, &signature.outputs})
      for (const Argument& argument : *list)
        if (argument.is_list || argument.type_variable != 0) return false;
    return !signature.inputs.empty();
  }

  mutable std::shared_mutex mutex_;
  std::deque<OpRuntime> runtimes_;
  std::deque<OpDef> user_ops_;
  std::deque<std::string> strings_;
  std::map<std::string_view, const OpDef*> by_name_;
};

}  // namespace

const OpRuntime& register_builtin(const OpDef& op) {
  Registry::instance();
  const OpRuntime* runtime = std::atomic_ref(op.runtime).load(std::memory_order_acquire);
  if (!runtime) throw Internal(std::string(op.name()) + " is in no family's list of ops");
  return *runtime;
}

Op define_op(OpDef def) { return Op(*Registry::instance().add(std::move(def))); }

Op find_op(std::string_view name) {
  if (const OpDef* op = Registry::instance().find(name)) return Op(*op);
  const std::string similar = Registry::instance().similar_names(name);
  throw NotFound("find_op: there is no op named '" + std::string(name) + "'" +
                 (similar.empty() ? "" : "; similar: " + similar));
}

std::vector<Op> all_ops() { return Registry::instance().all(); }

}  // namespace capstan
