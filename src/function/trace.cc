#include "function/trace.h"

#include <algorithm>
#include <utility>

#include "capstan/base/error.h"
#include "function/tracing_mutex.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

/// Larger ones are passed in, so that a function does not hold copies of data.
constexpr std::int64_t kMostConstantElements = 128;

bool may_be_constant(const Tensor& tensor) {
  return (is_plain(tensor.dtype()) || tensor.dtype() == DType::string) && tensor.size() <= kMostConstantElements &&
         !Isolation::is_followed_anywhere(tensor);
}

template <class Map, class Make>
Endpoint once(Map& known, const typename Map::key_type& key, Make&& make) {
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const Endpoint made = make();
  known.emplace(key, made);
  return made;
}

}  // namespace

void forget_symbolic(std::vector<Tensor>& captures) {
  for (Tensor& capture : captures)
    if (capture.is_defined() && capture.is_symbolic()) capture = Tensor();
}

std::recursive_mutex& tracing_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

Trace::Trace(std::string name)
    : GraphRecorder(std::make_shared<GraphBody>(std::move(name))), outer_(thread_state().recorder) {}

Trace* Trace::current() { return dynamic_cast<Trace*>(thread_state().recorder); }

Trace::Active::Active(Trace& trace) { thread_state().recorder = &trace; }

Tensor Trace::add_argument(const std::string& name, const TensorSpec& spec, const ResourceHandle& resource) {
  arguments_.push_back(add_placeholder(name, spec, resource));
  return graph().tensor(arguments_.back());
}

void Trace::alias(const Tensor& outer, const Tensor& as) {
  if (outer.dtype() == DType::resource && !outer.is_symbolic())
    resource_aliases_.emplace(resource_of(outer), as);
  else
    aliases_.emplace(identity_of(outer), as);
}

/// Traces inside of this one may take what this one may take.
bool Trace::has_made(const Tensor& tensor) const {
  return GraphRecorder::has_made(tensor) ||
         std::ranges::any_of(sources_, [&](const auto& source) { return source->endpoint_of(tensor).node >= 0; });
}

bool Trace::may_capture(const Tensor& tensor) const {
  if (has_made(tensor)) return true;
  for (const Recorder* recorder = outer_; recorder; recorder = recorder->outer())
    if (recorder->has_made(tensor)) return true;
  return false;
}

Endpoint Trace::capture(const Tensor& tensor, std::string_view op) {
  if (tensor.is_symbolic()) return capture_symbolic(tensor, op);
  const auto alias = aliases_.find(identity_of(tensor));
  if (tensor.dtype() == DType::resource) return capture_resource(tensor, op);
  if (alias != aliases_.end()) return resolve(alias->second, op);
  return once(by_identity_, identity_of(tensor), [&] {
    if (!may_be_constant(tensor)) return capture_input(tensor);
    if (is_trainable(tensor.dtype())) embedded_.push_back(tensor);
    return add_constant(tensor);
  });
}

Endpoint Trace::capture_resource(const Tensor& handle, std::string_view op) {
  const auto alias = resource_aliases_.find(resource_of(handle));
  if (alias != resource_aliases_.end()) return resolve(alias->second, op);
  return once(by_resource_, static_cast<const Resource*>(resource_of(handle)), [&] { return capture_input(handle); });
}

Endpoint Trace::capture_symbolic(const Tensor& tensor, std::string_view op) {
  if (!may_capture(tensor)) {
    const SymbolicOrigin* origin = origin_of(tensor);
    throw OutOfScope(std::string(op) + ": got " + (origin ? origin->description() : "a symbolic tensor") +
                     " while tracing '" + graph().name() +
                     "', to which it does not belong; return the tensor from the function that made it instead");
  }
  const auto [maker, at] = place_of(tensor);
  if (at.node < 0)  // a member of a batch
    return once(by_identity_, identity_of(tensor), [&] { return capture_input(tensor); });
  // Copies of one graph number their nodes alike.
  const bool is_source = std::ranges::any_of(sources_, [&](const auto& each) { return each.get() == maker; });
  const std::pair<const void*, Endpoint> key{is_source ? nullptr : maker, at};
  return once(by_endpoint_, key, [&] {
    const Tensor* value = is_source ? const_cast<GraphBody*>(maker)->constant_value(at) : nullptr;
    return value ? add_constant(*value) : capture_input(tensor);
  });
}

Endpoint Trace::capture_input(const Tensor& tensor) {
  ResourceHandle description;
  if (tensor.dtype() == DType::resource) description = ResourceDescription::of(*resource_of(tensor));
  const Endpoint at = add_placeholder("capture", {tensor.dtype(), tensor.shape()}, description);
  captures_.push_back(tensor);
  capture_places_.push_back(at);
  return at;
}

void Trace::on_recorded_operation(const RecordedOperation& operation) {
  NotedOperation noted;
  noted.name = operation.name;
  const auto into = [&](std::span<const Tensor> from, std::vector<Tensor>& to) {
    for (const Tensor& tensor : from) to.push_back(graph().tensor(resolve(tensor, operation.name)));
  };
  into(operation.inputs, noted.inputs);
  into(operation.outputs, noted.outputs);
  noted.backward = operation.backward;
  noted.forward = operation.forward;
  noted.is_seen_forward = operation.is_seen_forward;
  noted.takes_absent_gradients = operation.takes_absent_gradients;
  noted.position = graph().size();
  noted_.push_back(std::move(noted));
}

TracedFunctionPtr Trace::finish_with(std::span<const Tensor> outputs, std::span<const Tensor> captures, Trace& around) {
  around.note_embedded(embedded_);
  std::vector<Endpoint> places;
  for (const Tensor& each : captures) places.push_back(place_in(each, around));
  captures_.assign(captures.begin(), captures.end());
  capture_places_ = std::move(places);
  forget_symbolic(captures_);
  return finish(outputs);
}

/// The placeholder for a capture, which may stand for the same value of the trace around as another tensor does.
Endpoint Trace::place_in(const Tensor& capture, Trace& around) {
  const Endpoint wanted = around.resolve(capture, graph().name());
  for (std::size_t i = 0; i < captures_.size(); ++i)
    if (around.resolve(captures_[i], graph().name()) == wanted) return capture_places_[i];
  const std::size_t before = captures_.size();
  const Endpoint made = capture_input(capture);
  captures_.resize(before);
  capture_places_.resize(before);
  return made;
}

TracedFunctionPtr Trace::finish(std::span<const Tensor> outputs) {
  std::vector<Endpoint> results;
  for (const Tensor& output : outputs) results.push_back(resolve(output, graph().name()));
  std::vector<Endpoint> inputs = arguments_;
  inputs.insert(inputs.end(), capture_places_.begin(), capture_places_.end());
#ifndef NDEBUG
  verify(graph());
#endif
  return std::make_shared<TracedFunction>(
      GraphFunction::Parts{graph().name(), shared_graph(), std::move(inputs), std::move(results), {}},
      TracedFunction::Origin{captures_, std::move(embedded_), std::move(noted_)});
}

}  // namespace capstan
