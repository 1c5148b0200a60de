// The door that every operation passes: check types, infer shapes, act (kernel or recorder), tell the observers.
#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "op/observer.h"
#include "op/runtime.h"
#include "tensor/symbolic.h"

namespace capstan {
namespace {

using detail::OpRuntime;

constexpr std::size_t kFewOutputs = 8;

[[noreturn]] void fail_type(const OpDef& op, const std::string& message) {
  throw TypeError(std::string(op.name()) + ": " + message);
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

[[noreturn]] void fail_not_allowed(const OpDef& op, const Argument& argument, const TypeVariable& variable, DType got) {
  fail_type(op, "argument " + quoted(argument.name) + " must have a type of " + type_set_text(variable.allowed) +
                    ", got " + std::string(dtype_name(got)));
}

[[noreturn]] void fail_mismatch(const OpDef& op, const Argument& argument, DType expected, DType got) {
  fail_type(op, "argument " + quoted(argument.name) + " must have type " + std::string(dtype_name(expected)) +
                    (argument.type_variable >= 0 ? " like the arguments before it" : "") + ", got " +
                    std::string(dtype_name(got)) + "; use cast to convert");
}

[[noreturn]] void fail_count(const OpDef& op, const Signature& signature, std::size_t got) {
  throw InvalidArgument(std::string(op.name()) + ": takes " + std::to_string(signature.inputs.size()) +
                        " arguments, got " + std::to_string(got));
}

/// The element types that the signature's type variables stand for in one call.
class TypeBinding {
 public:
  TypeBinding(const OpDef& op, const OpRuntime& runtime) : op_(op), signature_(runtime.signature) {}

  void bind_inputs(std::span<const InputRef> inputs) {
    const std::size_t list_size = size_of_list(inputs.size());
    std::size_t at = 0;
    for (const Argument& argument : signature_.inputs) {
      const std::size_t count = argument.is_list ? list_size : 1;
      for (std::size_t i = 0; i < count; ++i, ++at)
        if (!argument.is_mixed) bind(argument, inputs[at].tensor->dtype());
    }
  }

  /// Variables that no input names come from attributes of that name ("DstT", "out_type").
  void bind_attributes(const AttributeSchema* schema, const void* attributes) {
    if (!schema) return;
    for (std::size_t i = 0; i < signature_.type_variables.size(); ++i) {
      if (bound_[i] != DType::invalid) continue;
      const TypeVariable& variable = signature_.type_variables[i];
      const AttributeField* field = schema->find(variable.name);
      if (!field) continue;
      bound_[i] = *reinterpret_cast<const DType*>(static_cast<const std::byte*>(attributes) + field->offset);
      if (!(variable.allowed & type_bit(bound_[i])))
        fail_type(op_, "attribute " + quoted(variable.name) + " must be a type of " + type_set_text(variable.allowed) +
                           ", got " + std::string(dtype_name(bound_[i])));
    }
  }

  DType type_of(const Argument& argument) const {
    return argument.type_variable < 0 ? argument.dtype : bound_[static_cast<std::size_t>(argument.type_variable)];
  }
  /// The type that chooses the kernel.
  DType key() const { return signature_.type_variables.empty() ? DType::invalid : bound_[0]; }

 private:
  void bind(const Argument& argument, DType got) {
    if (argument.type_variable < 0) {
      if (got != argument.dtype) fail_mismatch(op_, argument, argument.dtype, got);
      return;
    }
    const auto index = static_cast<std::size_t>(argument.type_variable);
    DType& bound = bound_[index];
    if (bound == DType::invalid) {
      if (!(signature_.type_variables[index].allowed & type_bit(got)))
        fail_not_allowed(op_, argument, signature_.type_variables[index], got);
      bound = got;
    } else if (bound != got) {
      fail_mismatch(op_, argument, bound, got);
    }
  }

  std::size_t size_of_list(std::size_t given) const {
    std::size_t lists = 0;
    for (const Argument& argument : signature_.inputs) lists += argument.is_list;
    const std::size_t singles = signature_.inputs.size() - lists;
    const bool fits = lists == 0 ? given == singles : given >= singles && (given - singles) % lists == 0;
    if (!fits) fail_count(op_, signature_, given);
    return lists ? (given - singles) / lists : 0;
  }

  const OpDef& op_;
  const Signature& signature_;
  std::array<DType, kMaxTypeVariables> bound_{};
};

/// The list of types that a mixed list of outputs takes from an attribute, null if it takes those of the inputs.
const std::vector<DType>* types_of_list(const OpRuntime& runtime, const Argument& list, const void* attributes) {
  const AttributeField* field = runtime.schema && list.is_mixed ? runtime.schema->find(list.count_name) : nullptr;
  return field ? reinterpret_cast<const std::vector<DType>*>(static_cast<const std::byte*>(attributes) + field->offset)
               : nullptr;
}

void set_output_types(const OpRuntime& runtime, const TypeBinding& types, std::span<const InputRef> inputs,
                      const void* attributes, std::span<TensorSpec> specs) {
  std::size_t at = 0;
  const auto& outputs = runtime.signature.outputs;
  for (const Argument& argument : outputs) {
    const std::size_t count = argument.is_list ? specs.size() + 1 - outputs.size() : 1;
    const auto* listed = types_of_list(runtime, argument, attributes);
    for (std::size_t i = 0; i < count && at < specs.size(); ++i, ++at)
      specs[at].dtype = listed              ? (*listed)[i]
                        : argument.is_mixed ? inputs[at].tensor->dtype()
                                            : types.type_of(argument);
  }
}

[[noreturn]] void fail_no_kernel(const OpDef& op, DType dtype) {
  throw Unimplemented(std::string(op.name()) + ": there is no CPU kernel" +
                      (dtype == DType::invalid ? "" : " for element type " + std::string(dtype_name(dtype))));
}

bool any_symbolic(std::span<const InputRef> inputs) {
  for (const InputRef& input : inputs)
    if (input.tensor->is_symbolic()) return true;
  return false;
}

[[noreturn]] void fail_out_of_scope(const OpDef& op, std::span<const InputRef> inputs) {
  std::string what = "a symbolic tensor";
  for (const InputRef& input : inputs)
    if (const SymbolicOrigin* origin = origin_of(*input.tensor)) what = origin->description();
  throw OutOfScope(std::string(op.name()) + ": got " + what +
                   " outside of the function whose tracing made it; return the tensor from the function instead");
}

[[gnu::noinline]] bool record(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                              std::span<const TensorSpec> specs, std::span<Tensor> outputs) {
  if (!thread_state().recorder) fail_out_of_scope(op, inputs);
  return thread_state().recorder->record(op, attributes, inputs, specs, outputs);
}

[[noreturn, gnu::noinline]] void fail_memory(const OpDef& op) {
  throw ResourceExhausted(std::string(op.name()) + ": out of memory: the kernel's working memory does not fit");
}

/// Kernels keep working memory in the standard containers too, whose errors get a type here.
inline void run(const OpDef& op, Kernel kernel, KernelContext& context) {
  try {
    kernel(context);
  } catch (const std::bad_alloc&) {
    fail_memory(op);
  } catch (const std::length_error&) {
    fail_memory(op);
  }
}

/// Steps 2 and 3: run or record, then tell.
inline void act(const OpDef& op, Kernel kernel, DType key, const void* attributes, std::span<const InputRef> inputs,
                std::span<const TensorSpec> specs, std::span<Tensor> outputs) {
  const ThreadState& state = thread_state();
  const bool is_observed = state.observers && !state.paused;
  if (state.recorder || any_symbolic(inputs)) [[unlikely]] {
    if (!record(op, attributes, inputs, specs, outputs)) return;
  } else {
    if (!kernel) [[unlikely]]
      fail_no_kernel(op, key);
    // Observers are told of the inputs afterwards, so nobody may write over them while someone listens.
    KernelContext context(op, attributes, inputs, specs, outputs, /*may_take_over=*/!is_observed);
    run(op, kernel, context);
  }
  if (is_observed) ObserverList::tell(OpCall(op, attributes, inputs, outputs));
}

/// Step 1: types and shapes of the outputs. Returns the type that chooses the kernel.
DType infer(const OpDef& op, const OpRuntime& runtime, std::span<const InputRef> inputs, const void* attributes,
            std::span<TensorSpec> specs) {
  TypeBinding types(op, runtime);
  types.bind_inputs(inputs);
  types.bind_attributes(runtime.schema, attributes);
  set_output_types(runtime, types, inputs, attributes, specs);
  InferContext context(op, attributes, inputs, specs);
  op.shape(context);
  return types.key();
}

void apply_into(const OpDef& op, const OpRuntime& runtime, std::span<const InputRef> inputs, const void* attributes,
                std::span<Tensor> outputs) {
  SmallVector<TensorSpec, kFewOutputs> specs(outputs.size());
  const DType key = infer(op, runtime, inputs, attributes, specs);
  act(op, runtime.kernels[key], key, attributes, inputs, specs, outputs);
}

/// One type for all, one output: no lists to walk.
Tensor apply_simple(const OpDef& op, const OpRuntime& runtime, std::span<const InputRef> inputs,
                    const void* attributes) {
  const Signature& signature = runtime.signature;
  if (inputs.size() != signature.inputs.size()) [[unlikely]]
    fail_count(op, signature, inputs.size());
  TensorSpec spec;
  spec.dtype = inputs[0].tensor->dtype();
  if (!(signature.type_variables[0].allowed & type_bit(spec.dtype))) [[unlikely]]
    fail_not_allowed(op, signature.inputs[0], signature.type_variables[0], spec.dtype);
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i].tensor->dtype() != spec.dtype) [[unlikely]]
      fail_mismatch(op, signature.inputs[i], spec.dtype, inputs[i].tensor->dtype());
  const DType key = spec.dtype;
  InferContext context(op, attributes, inputs, std::span(&spec, 1));
  op.shape(context);
  Tensor output;
  act(op, runtime.kernels[key], key, attributes, inputs, std::span(&spec, 1), std::span(&output, 1));
  return output;
}

}  // namespace

Tensor apply(const OpDef& op, std::span<const InputRef> inputs, const void* attributes) {
  const OpRuntime& runtime = runtime_of(op);
  if (!attributes) attributes = runtime.default_attributes;
  if (runtime.is_simple) return apply_simple(op, runtime, inputs, attributes);
  Tensor output;
  if (output_count(op, inputs.size(), attributes) != 1)
    throw InvalidArgument(std::string(op.name()) + ": has not exactly one output; use apply_all");
  apply_into(op, runtime, inputs, attributes, std::span(&output, 1));
  return output;
}

Tensor apply(const OpDef& op, std::initializer_list<InputRef> inputs, const void* attributes) {
  return apply(op, std::span(inputs.begin(), inputs.size()), attributes);
}

std::vector<Tensor> apply_all(const OpDef& op, std::span<const InputRef> inputs, const void* attributes) {
  const OpRuntime& runtime = runtime_of(op);
  if (!attributes) attributes = runtime.default_attributes;
  std::vector<Tensor> outputs(output_count(op, inputs.size(), attributes));
  apply_into(op, runtime, inputs, attributes, outputs);
  return outputs;
}

std::vector<Tensor> apply_all(const OpDef& op, std::initializer_list<InputRef> inputs, const void* attributes) {
  return apply_all(op, std::span(inputs.begin(), inputs.size()), attributes);
}

namespace {

[[noreturn]] void fail_output_count(const OpDef& op, const std::string& name, std::int64_t count) {
  throw InvalidArgument(std::string(op.name()) + ": attribute '" + name + "' must be between 0 and 1048576, got " +
                        std::to_string(count));
}

std::size_t list_length(const OpDef& op, const OpRuntime& runtime, const Argument& list, std::size_t input_count,
                        const void* attributes) {
  if (const auto* types = types_of_list(runtime, list, attributes)) return types->size();
  if (runtime.schema && !list.is_mixed)
    if (const AttributeField* field = runtime.schema->find(list.count_name)) {
      const auto count = std::get<std::int64_t>(field->get(attributes, field->offset));
      if (count < 0 || count > (1 << 20)) fail_output_count(op, list.count_name, count);
      return static_cast<std::size_t>(count);
    }
  const auto& inputs = runtime.signature.inputs;
  const auto lists = static_cast<std::size_t>(std::ranges::count_if(inputs, &Argument::is_list));
  const std::size_t singles = inputs.size() - lists;
  if (input_count < singles) fail_count(op, runtime.signature, input_count);
  return (input_count - singles) / lists;
}

}  // namespace

std::size_t output_count(const OpDef& op, std::size_t input_count, const void* attributes) {
  const OpRuntime& runtime = runtime_of(op);
  std::size_t count = 0;
  for (const Argument& argument : runtime.signature.outputs)
    count += argument.is_list ? list_length(op, runtime, argument, input_count, attributes) : 1;
  return count;
}

Kernel kernel_for(const OpDef& op, std::span<const InputRef> inputs, const void* attributes) {
  const OpRuntime& runtime = runtime_of(op);
  TypeBinding types(op, runtime);
  types.bind_inputs(inputs);
  types.bind_attributes(runtime.schema, attributes);
  const Kernel kernel = runtime.kernels[types.key()];
  if (!kernel) fail_no_kernel(op, types.key());
  return kernel;
}

DType infer_call(const OpDef& op, std::span<const InputRef> inputs, const void* attributes,
                 std::span<TensorSpec> outputs) {
  return infer(op, runtime_of(op), inputs, attributes, outputs);
}

std::vector<TensorSpec> infer_outputs(const OpDef& op, std::span<const Tensor> inputs, const AttributeMap& attributes) {
  const OpRuntime& runtime = runtime_of(op);
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  std::shared_ptr<void> held;
  if (runtime.schema) held = runtime.schema->from_map(attributes, op.name());
  std::vector<TensorSpec> specs(output_count(op, refs.size(), held.get()));
  infer(op, runtime, refs, held.get(), specs);
  return specs;
}

bool has_any_kernel(const OpDef& op) { return !runtime_of(op).kernels.empty(); }

Tensor Op::call(std::initializer_list<Tensor> inputs, const AttributeMap& attributes) const {
  auto outputs = call_all(std::span(inputs.begin(), inputs.size()), attributes);
  if (outputs.size() != 1)
    throw InvalidArgument(std::string(name()) + ": has " + std::to_string(outputs.size()) + " outputs; use call_all");
  return std::move(outputs[0]);
}

std::vector<Tensor> Op::call_all(std::span<const Tensor> inputs, const AttributeMap& attributes) const {
  const OpRuntime& runtime = runtime_of(*def_);
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  if (!runtime.schema) {
    if (!attributes.empty())
      throw InvalidArgument(std::string(name()) + ": has no attributes, got '" + attributes.begin()->first + "'");
    return apply_all(*def_, refs);
  }
  return apply_all(*def_, refs, runtime.schema->from_map(attributes, name()).get());
}

}  // namespace capstan
