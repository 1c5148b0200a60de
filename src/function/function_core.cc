#include "capstan/function/detail/function_core.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "autodiff/tape.h"
#include "capstan/base/error.h"
#include "function/call.h"
#include "function/created_variables.h"
#include "function/trace.h"
#include "function/tracing_mutex.h"
#include "tensor/storage.h"

namespace capstan::detail {
namespace {

TensorSpec spec_of(const Tensor& tensor) { return {tensor.dtype(), tensor.shape()}; }

/// For each handle the place of its first occurrence, so that variables that coincide are told from those that do not.
std::vector<int> aliases_of(std::span<const Tensor> tensors) {
  std::vector<int> aliases;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].dtype() != DType::resource) continue;
    int first = static_cast<int>(i);
    for (int k = 0; k < first; ++k)
      if (tensors[static_cast<std::size_t>(k)].dtype() == DType::resource &&
          resource_of(tensors[static_cast<std::size_t>(k)]) == resource_of(tensors[i]))
        first = k;
    aliases.push_back(first);
  }
  return aliases;
}

/// A handle's own spec says nothing: what is behind it counts.
TensorSpec key_spec(const Tensor& tensor) {
  if (tensor.dtype() != DType::resource) return spec_of(tensor);
  const Resource* resource = resource_of(tensor);
  return {DType::resource, resource ? resource->value_shape() : Shape::unknown()};
}

bool fits(const TensorSpec& wanted, const Tensor& tensor) {
  if (tensor.dtype() != wanted.dtype) return false;
  if (tensor.dtype() == DType::resource) return key_spec(tensor).shape == wanted.shape;
  return tensor.shape() == wanted.shape ||
         (!wanted.shape.is_fully_known() && wanted.shape.is_compatible_with(tensor.shape()));
}

/// Does everything that the trace captured from other traces belong to the one that calls now?
bool is_at_home(const TracedFunction& function) {
  for (const Tensor& capture : function.captures()) {
    if (!capture.is_defined() || !capture.is_symbolic()) continue;
    bool is_known = false;
    for (const Recorder* at = capstan::thread_state().recorder; at && !is_known; at = at->outer())
      is_known = at->has_made(capture);
    if (!is_known) return false;
  }
  return true;
}

bool is_embedded_followed(const TracedFunction& function) {
  return std::ranges::any_of(function.embedded(), Isolation::is_followed_anywhere);
}

std::string text_of(const TensorSpec& spec) { return std::string(dtype_name(spec.dtype)) + spec.shape.to_string(); }

}  // namespace

struct FunctionCore::State {
  mutable std::shared_mutex mutex;
  std::vector<std::shared_ptr<const Concrete>> traces;
  std::vector<const Arguments*> in_progress;  // guarded by the tracing mutex
  int trace_count = 0;
  std::vector<std::string> reasons;
  bool has_created_variables = false;
};

FunctionCore::FunctionCore(FunctionOptions options) : options_(std::move(options)), state_(std::make_unique<State>()) {}

FunctionCore::~FunctionCore() = default;

int FunctionCore::trace_count() const {
  const std::shared_lock lock(state_->mutex);
  return state_->trace_count;
}

std::vector<std::string> FunctionCore::retrace_reasons() const {
  const std::shared_lock lock(state_->mutex);
  return state_->reasons;
}

namespace {

bool serves(const Concrete& concrete, const Arguments& arguments) {
  if (concrete.specs.size() != arguments.tensors.size() || concrete.host != arguments.host) return false;
  for (std::size_t i = 0; i < concrete.specs.size(); ++i)
    if (!fits(concrete.specs[i], arguments.tensors[i])) return false;
  return concrete.aliases.empty() || concrete.aliases == aliases_of(arguments.tensors);
}

std::string reason_for(const Concrete& before, const Arguments& arguments) {
  if (before.specs.size() != arguments.tensors.size())
    return "another number of tensors: " + std::to_string(before.specs.size()) + " before, now " +
           std::to_string(arguments.tensors.size());
  for (std::size_t i = 0; i < before.specs.size(); ++i)
    if (!fits(before.specs[i], arguments.tensors[i]))
      return "tensor " + std::to_string(i) + " was " + text_of(before.specs[i]) + " before, is " +
             text_of(key_spec(arguments.tensors[i])) + " now";
  if (before.host != arguments.host) return "a number, string, pointer or structure among the arguments differs";
  if (before.aliases != aliases_of(arguments.tensors)) return "variables among the arguments coincide in another way";
  if (is_embedded_followed(*before.function)) return "a constant of the trace is now followed by a tape";
  return "tensors that the trace captured belong to another trace";
}

}  // namespace

std::shared_ptr<const Concrete> FunctionCore::find(const Arguments& arguments) const {
  const std::shared_lock lock(state_->mutex);
  for (auto at = state_->traces.rbegin(); at != state_->traces.rend(); ++at)
    if (serves(**at, arguments) && is_at_home(*(*at)->function) && !is_embedded_followed(*(*at)->function)) return *at;
  return nullptr;
}

namespace {

/// One tracing of the body.
struct Tracing {
  std::shared_ptr<Concrete> concrete;
  std::vector<CreatedVariable> created;
};

void check_signature(const FunctionOptions& options, const Arguments& arguments) {
  if (!options.input_signature) return;
  const auto& signature = *options.input_signature;
  if (signature.size() != arguments.tensors.size())
    throw TypeError("function '" + options.name + "': too " +
                    (arguments.tensors.size() > signature.size() ? "many" : "few (missing)") +
                    " arguments: the signature lists " + std::to_string(signature.size()) + " tensors, got " +
                    std::to_string(arguments.tensors.size()));
  for (std::size_t i = 0; i < signature.size(); ++i)
    if (!fits(signature[i], arguments.tensors[i]))
      throw TypeError("function '" + options.name + "': argument tensor " + std::to_string(i) + " must be " +
                      text_of(signature[i]) + " as the signature says, got " + text_of(spec_of(arguments.tensors[i])));
}

/// What stays of a shape that changed.
Shape relaxed(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  Shape shape = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i]) shape.set_dim(i, Shape::kUnknown);
  return shape;
}

Tensor argument(Trace& trace, const TensorSpec& spec, const Tensor& given, std::size_t i) {
  const std::string name = "args_" + std::to_string(i);
  if (given.dtype() == DType::resource)
    return trace.add_argument(name, spec_of(given), ResourceDescription::of(*resource_of(given)));
  return trace.add_argument(name, spec);
}

Tracing trace_once(const FunctionOptions& options, const Arguments& arguments, std::vector<TensorSpec> specs,
                   const TraceBody& body) {
  Tracing made{std::make_shared<Concrete>(), {}};
  Concrete& concrete = *made.concrete;
  concrete.aliases = aliases_of(arguments.tensors);
  concrete.host = arguments.host;
  Trace trace(options.name);
  const Trace::Active active(trace);
  std::vector<Tensor> symbolic;
  for (std::size_t i = 0, handle = 0; i < arguments.tensors.size(); ++i) {
    symbolic.push_back(argument(trace, specs[i], arguments.tensors[i], i));
    if (arguments.tensors[i].dtype() == DType::resource)  // a variable that stands in two places is one
      symbolic.back() = symbolic[static_cast<std::size_t>(concrete.aliases[handle++])];
  }
  concrete.specs = std::move(specs);
  TraceResult result = body(symbolic);
  concrete.structure = std::move(result.structure);
  made.created = std::move(trace.created_variables());
  concrete.function = trace.finish(result.outputs);
  return made;
}

/// Marks arguments as being traced, to find a function that calls itself without end.
class InProgress {
 public:
  InProgress(std::vector<const Arguments*>& list, const Arguments& arguments) : list_(list) {
    list_.push_back(&arguments);
  }
  ~InProgress() { list_.pop_back(); }
  InProgress(const InProgress&) = delete;
  InProgress& operator=(const InProgress&) = delete;

 private:
  std::vector<const Arguments*>& list_;
};

bool are_alike(const Arguments& a, const Arguments& b) {
  if (a.tensors.size() != b.tensors.size() || a.host != b.host) return false;
  for (std::size_t i = 0; i < a.tensors.size(); ++i)
    if (!fits(key_spec(a.tensors[i]), b.tensors[i])) return false;
  return true;
}

}  // namespace

std::shared_ptr<const Concrete> FunctionCore::trace(const Arguments& arguments, const TraceBody& body) {
  const std::lock_guard tracing(tracing_mutex());
  if (auto found = find(arguments)) return found;  // another thread was faster
  for (const Arguments* outer : state_->in_progress)
    if (are_alike(*outer, arguments))
      throw FailedPrecondition("function '" + options_.name +
                               "': calls itself with arguments of the same kind while it is traced, which would never "
                               "end; let a number among the arguments count down, or use while_loop");
  const InProgress in_progress(state_->in_progress, arguments);
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : arguments.tensors) specs.push_back(key_spec(tensor));
  if (options_.input_signature) specs = *options_.input_signature;
  std::string reason;
  {
    const std::shared_lock lock(state_->mutex);
    if (!state_->traces.empty()) reason = reason_for(*state_->traces.back(), arguments);
    if (options_.reduce_retracing)
      for (const auto& before : state_->traces) {
        if (before->host != arguments.host || before->specs.size() != specs.size()) continue;
        const auto same_types = [&](std::size_t i) { return before->specs[i].dtype == specs[i].dtype; };
        bool alike = true;
        for (std::size_t i = 0; i < specs.size(); ++i) alike = alike && same_types(i);
        if (!alike) continue;
        for (std::size_t i = 0; i < specs.size(); ++i)
          if (specs[i].dtype != DType::resource) specs[i].shape = relaxed(specs[i].shape, before->specs[i].shape);
      }
  }
  Tracing made = trace_once(options_, arguments, specs, body);
  int traces = 1;
  if (!made.created.empty()) {
    if (std::exchange(state_->has_created_variables, true))
      throw InvalidArgument("function '" + options_.name +
                            "': a variable was made in a call that is not the first; make variables once, outside of "
                            "the function or only if they do not exist yet");
    initialize(*made.concrete->function, made.created, arguments.tensors);
    made = trace_once(options_, arguments, specs, body);
    ++traces;
    if (!made.created.empty())
      throw InvalidArgument("function '" + options_.name +
                            "': makes variables every time it is called; keep them outside of the function, and make "
                            "them only if they do not exist yet");
  }
  state_->has_created_variables = true;  // from the second trace on none may be made
  const std::unique_lock lock(state_->mutex);
  state_->trace_count += traces;
  if (!reason.empty()) state_->reasons.push_back(std::move(reason));
  state_->traces.push_back(made.concrete);
  return made.concrete;
}

std::shared_ptr<const Concrete> FunctionCore::concrete_for(const Arguments& arguments, const TraceBody& body) {
  check_signature(options_, arguments);
  auto concrete = find(arguments);
  return concrete ? concrete : trace(arguments, body);
}

std::vector<Tensor> FunctionCore::call_concrete(const Concrete& concrete, std::span<const Tensor> arguments) {
  std::vector<Tensor> inputs(arguments.begin(), arguments.end());
  const auto& captures = concrete.function->captures();
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  if (capstan::thread_state().observers)
    for (const Tensor& input : inputs)
      if (input.dtype() == DType::resource && resource_of(input)->is_trainable()) watch_accessed_variable(input);
  if (Trace* around = Trace::current()) around->note_embedded(concrete.function->embedded());
  return call_function(concrete.function, inputs);
}

FunctionCore::Call FunctionCore::call(const Arguments& arguments, const TraceBody& body) {
  auto concrete = concrete_for(arguments, body);
  auto outputs = call_concrete(*concrete, arguments.tensors);
  return {std::move(outputs), std::move(concrete)};
}

}  // namespace capstan::detail
