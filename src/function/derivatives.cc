#include "function/derivatives.h"

#include <algorithm>
#include <utility>

#include "autodiff/accumulator.h"
#include "autodiff/sweep.h"
#include "autodiff/value_spec.h"
#include "capstan/base/error.h"
#include "function/call.h"
#include "function/forward_form.h"
#include "function/graph_feed.h"
#include "function/trace.h"
#include "function/tracing_mutex.h"
#include "function/zero_of.h"
#include "op/runtime.h"

namespace capstan {
namespace {

using Place = DerivativeFunction::Place;

/// A tape that hears of nothing but what it is fed.
class FedTape {
 public:
  FedTape() : tape_(new Tape(/*persistent=*/false, /*watch_accessed=*/false)) {}
  ~FedTape() {
    tape_->close();
    tape_->drop_reference();
  }
  FedTape(const FedTape&) = delete;
  FedTape& operator=(const FedTape&) = delete;
  Tape& operator*() { return *tape_; }
  Tape* operator->() { return tape_; }

 private:
  Tape* const tape_;
};

class FedAccumulator {
 public:
  FedAccumulator() : accumulator_(new Accumulator(/*directions=*/-1)) {}
  ~FedAccumulator() { accumulator_->close(); }
  FedAccumulator(const FedAccumulator&) = delete;
  FedAccumulator& operator=(const FedAccumulator&) = delete;
  Accumulator* operator->() { return accumulator_; }

 private:
  Accumulator* const accumulator_;
};

/// The same function with every call, branch and loop that the tape would have to follow in its forward form.
TracedFunctionPtr extend(const TracedFunction& function) {
  std::shared_ptr<GraphBody> graph = function.graph();
  std::vector<NotedOperation> noted = function.noted();
  for (std::int32_t i = 0; i < function.graph()->size(); ++i) {
    const Node& node = function.graph()->node(i);
    if (!node.op || node.is_silent || !has_forward_form(*node.op)) continue;
    if (graph == function.graph()) graph = function.graph()->copy();
    // The gradients of its results pass through the outer backward function, so all of it may be differentiated.
    const auto form = forward_form(*node.op, node.attributes.get(), DerivativeNeed::full);
    Node& extended = graph->mutable_node(i);
    extended.op = form->op;
    extended.type = form->op->name();
    extended.attributes = form->attributes;
    extended.is_silent = true;
    std::vector<Tensor> inputs, outputs;
    std::vector<InputRef> refs;
    for (const Endpoint& input : node.inputs) inputs.push_back(graph->tensor(input));
    refs.assign(inputs.begin(), inputs.end());
    std::vector<TensorSpec> specs(output_count(*form->op, refs.size(), form->attributes.get()));
    infer_call(*form->op, refs, form->attributes.get(), specs);
    for (std::size_t k = extended.outputs.size(); k < specs.size(); ++k) extended.outputs.push_back({specs[k], {}});
    for (std::size_t k = 0; k < specs.size(); ++k) outputs.push_back(graph->tensor({i, static_cast<std::int32_t>(k)}));
    NotedOperation of_node = form->note(std::move(inputs), std::move(outputs));
    of_node.position = i + 1;
    const auto after = std::ranges::upper_bound(noted, of_node.position, {}, &NotedOperation::position);
    noted.insert(after, std::move(of_node));
  }
  return std::make_shared<TracedFunction>(
      GraphFunction::Parts{function.name(), std::move(graph), function.inputs(), function.outputs(),
                           function.targets()},
      TracedFunction::Origin{function.captures(), function.embedded(), std::move(noted)});
}

/// Prepares the trace of a derivative: tensors of the graph are captures, and what the function captured too.
void open_to(Trace& trace, const TracedFunction& function, const std::shared_ptr<const GraphBody>& traced_graph) {
  trace.take_from(function.graph());
  if (traced_graph != function.graph()) trace.take_from(traced_graph);
  for (std::size_t i = 0; i < function.captures().size(); ++i)
    if (function.captures()[i].is_defined())
      trace.alias(function.captures()[i], function.graph()->tensor(function.inputs()[function.argument_count() + i]));
}

/// Type and shape of a gradient or tangent of this tensor.
TensorSpec derivative_spec(const Tensor& tensor) { return value_spec(tensor); }

Place add_result(const Gradient& gradient, std::vector<Tensor>& results) {
  Place place{Place::Kind::none, results.size()};
  if (!gradient.has_value()) return place;
  if (!gradient.is_slices()) {
    place.kind = Place::Kind::dense;
    results.push_back(gradient.tensor());
    return place;
  }
  const IndexedSlices& slices = gradient.slices();
  results.insert(results.end(), {slices.values, slices.indices});
  place.kind = slices.dense_shape.is_defined() ? Place::Kind::slices_of_shape : Place::Kind::slices;
  if (slices.dense_shape.is_defined()) results.push_back(slices.dense_shape);
  return place;
}

std::vector<bool> all_true(std::size_t count) { return std::vector<bool>(count, true); }

}  // namespace

Gradient DerivativeFunction::gradient_at(std::size_t i, std::span<const Tensor> results) const {
  const Place& place = places[i];
  switch (place.kind) {
    case Place::Kind::none:
      return {};
    case Place::Kind::dense:
      return results[place.first];
    case Place::Kind::slices:
      return IndexedSlices{results[place.first], results[place.first + 1], {}};
    case Place::Kind::slices_of_shape:
      return IndexedSlices{results[place.first], results[place.first + 1], results[place.first + 2]};
  }
  return {};
}

Derivatives::Derivatives(const TracedFunction& function, bool full)
    : is_full_(full),
      result_count_(function.outputs().size()),
      traced_graph_(function.graph()),
      extended_(extend(function)) {
  for (std::size_t i = 0; i < extended_->inputs().size(); ++i) input_of_.emplace(extended_->inputs()[i], i);
  needed_inputs_.resize(extended_->inputs().size());
  needed_results_.resize(result_count_);
  set_forward();
  // Gradients also arrive at what is handed out for the first gradient, which asks for more, until nothing new comes.
  for (bool grows = true; grows;) {
    const auto sides_of = [&](auto&& make) {
      try {
        return add_sides(*make().function);
      } catch (const Error&) {  // an op without a gradient, say: thrown again when somebody asks for what it stands in
        if (!is_full_) throw;
        return false;
      }
    };
    grows = sides_of([&] { return make_backward(all_true(recorded_count())); });
    if (is_full_) grows |= sides_of([&] { return make_tangents(all_true(extended_->inputs().size())); });
    set_forward();
    if (!is_full_) break;
  }
}

/// Adds what a derivative takes from the graph and what is no input.
bool Derivatives::add_sides(const TracedFunction& derivative) {
  bool grows = false;
  for (const Tensor& capture : derivative.captures()) {
    const auto [graph, at] = place_of(capture);
    if (graph != extended_->graph().get() && graph != traced_graph_.get()) continue;
    if (const auto input = input_of_.find(at); input != input_of_.end()) {
      needed_inputs_[input->second] = true;
      continue;
    }
    if (const auto output = output_of_.find(at); output != output_of_.end()) {
      if (output->second < result_count_) needed_results_[output->second] = true;
      continue;
    }
    output_of_.emplace(at, result_count_ + sides_.size());
    sides_.push_back(at);
    grows = true;
  }
  return grows;
}

void Derivatives::set_forward() {
  std::vector<Endpoint> outputs = extended_->outputs();
  outputs.insert(outputs.end(), sides_.begin(), sides_.end());
  for (std::size_t k = 0; k < outputs.size(); ++k) output_of_.emplace(outputs[k], k);
  forward_ = std::make_shared<TracedFunction>(
      GraphFunction::Parts{extended_->name(), extended_->graph(), extended_->inputs(), std::move(outputs),
                           extended_->targets()},
      TracedFunction::Origin{extended_->captures(), extended_->embedded(), extended_->noted()});
}

const DerivativeFunction& Derivatives::find_or_make(ByMask& kept, const std::vector<bool>& mask,
                                                    const std::function<DerivativeFunction()>& make) const {
  return capstan::find_or_make(
      mutex_,
      [&] {
        const auto known = kept.find(mask);
        return known == kept.end() ? nullptr : &known->second;
      },
      make, [&](DerivativeFunction made) { return &kept.emplace(mask, std::move(made)).first->second; });
}

const DerivativeFunction& Derivatives::backward(const std::vector<bool>& has_gradient) const {
  return find_or_make(backward_, has_gradient, [&] {
    DerivativeFunction made = make_backward(has_gradient);
    if (is_served(*made.function)) return made;
    return with_zeros("_backward", make_backward(all_true(recorded_count())), has_gradient,
                      std::span(forward_->outputs()).first(recorded_count()));
  });
}

const DerivativeFunction& Derivatives::tangents(const std::vector<bool>& has_tangent) const {
  return find_or_make(tangents_, has_tangent, [&] {
    DerivativeFunction made = make_tangents(has_tangent);
    if (is_served(*made.function)) return made;
    return with_zeros("_tangents", make_tangents(all_true(has_tangent.size())), has_tangent, extended_->inputs());
  });
}

bool Derivatives::is_served(const TracedFunction& derivative) const {
  return std::ranges::all_of(derivative.captures(), [&](const Tensor& capture) {
    const auto [graph, at] = place_of(capture);
    const bool is_inside = graph == extended_->graph().get() || graph == traced_graph_.get();
    return !is_inside || input_of_.contains(at) || output_of_.contains(at);
  });
}

/// A derivative that is there where only some of its arguments are: zeros stand in for the others.
DerivativeFunction Derivatives::with_zeros(const std::string& name, const DerivativeFunction& all,
                                           const std::vector<bool>& present,
                                           std::span<const Endpoint> stand_for) const {
  Trace trace(extended_->name() + name);
  open_to(trace, *extended_, traced_graph_);
  const Trace::Active active(trace);
  std::vector<Tensor> arguments;
  for (std::size_t i = 0; i < present.size(); ++i) {
    const Tensor of = extended_->graph()->tensor(stand_for[i]);
    if (is_trainable(of.dtype()))
      arguments.push_back(present[i] ? trace.add_argument("given", derivative_spec(of)) : zero_of(of));
  }
  arguments.insert(arguments.end(), all.function->captures().begin(), all.function->captures().end());
  return {trace.finish(call_function(all.function, arguments)), all.places};
}

DerivativeFunction Derivatives::make_backward(const std::vector<bool>& has_gradient) const {
  const auto& outputs = forward_->outputs();
  Trace trace(extended_->name() + "_backward");
  open_to(trace, *extended_, traced_graph_);
  const Trace::Active active(trace);
  GraphFeed feed(*extended_, outputs);
  FedTape tape;
  for (std::size_t i = 0; i < extended_->inputs().size(); ++i)
    if (is_trainable(extended_->input(i).spec.dtype)) tape->watch(feed.tensor(extended_->inputs()[i]));
  feed.tell([&](const OpCall& call) { tape->on_call(call); },
            [&](const RecordedOperation& operation) {
              if (operation.backward) tape->record_function(operation);
            });
  Sweep sweep(*tape);
  for (std::size_t k = 0; k < has_gradient.size(); ++k) {
    const Tensor& target = feed.tensor(outputs[k]);
    if (!has_gradient[k] || !is_trainable(target.dtype())) continue;
    sweep.add_target(target, trace.add_argument("gradient", derivative_spec(target)));
  }
  std::vector<Tensor> sources, results;
  for (const Endpoint& input : extended_->inputs()) sources.push_back(feed.tensor(input));
  DerivativeFunction made;
  for (const Gradient& gradient : sweep.run(sources)) made.places.push_back(add_result(gradient, results));
  made.function = trace.finish(results);
  return made;
}

DerivativeFunction Derivatives::make_tangents(const std::vector<bool>& has_tangent) const {
  const auto& outputs = forward_->outputs();
  Trace trace(extended_->name() + "_tangents");
  open_to(trace, *extended_, traced_graph_);
  const Trace::Active active(trace);
  GraphFeed feed(*extended_, outputs);
  FedAccumulator accumulator;
  for (std::size_t i = 0; i < has_tangent.size(); ++i) {
    const Tensor& input = feed.tensor(extended_->inputs()[i]);
    if (has_tangent[i] && is_trainable(input.dtype()))
      accumulator->watch(input, trace.add_argument("tangent", derivative_spec(input)));
  }
  feed.tell([&](const OpCall& call) { accumulator->on_call(call); },
            [&](const RecordedOperation& operation) {
              if (operation.is_seen_forward) accumulator->on_function(operation);
            });
  std::vector<Tensor> results;
  DerivativeFunction made;
  for (const Endpoint& output : outputs) {
    const Tensor tangent = accumulator->tangent_of(feed.tensor(output));
    made.places.push_back(add_result(tangent.is_defined() ? Gradient(tangent) : Gradient(), results));
  }
  made.function = trace.finish(results);
  return made;
}

Tensor Derivatives::value_of(const Tensor& capture, std::span<const Tensor> inputs,
                             std::span<const Tensor> outputs) const {
  const auto [graph, at] = place_of(capture);
  if (graph != extended_->graph().get() && graph != traced_graph_.get()) return capture;
  if (const auto input = input_of_.find(at); input != input_of_.end()) return inputs[input->second];
  return outputs[output_of_.at(at)];
}

namespace {

/// Gradients or tangents that are there, and which ones these are.
struct Present {
  std::vector<bool> which;
  std::vector<Tensor> tensors;
};

/// One call of the forward form, remembered for its derivatives.
struct Remembered {
  std::shared_ptr<const Derivatives> derivatives;
  std::vector<Tensor> inputs, outputs;

  std::vector<Tensor> call(const DerivativeFunction& derivative, std::vector<Tensor> arguments) const {
    for (const Tensor& capture : derivative.function->captures())
      arguments.push_back(derivatives->value_of(capture, inputs, outputs));
    return call_function(derivative.function, arguments);
  }

  std::vector<Gradient> backward(std::span<const Gradient> dy) const {
    Present present;
    for (std::size_t k = 0; k < dy.size(); ++k) {
      present.which.push_back(dy[k].has_value() && is_trainable(outputs[k].dtype()));
      if (present.which.back()) present.tensors.push_back(dy[k].tensor());
    }
    const DerivativeFunction& function = derivatives->backward(present.which);
    const auto results = call(function, std::move(present.tensors));
    std::vector<Gradient> gradients;
    for (std::size_t i = 0; i < inputs.size(); ++i) gradients.push_back(function.gradient_at(i, results));
    return gradients;
  }

  std::vector<Tensor> forward(std::span<const Tensor> tangents) const {
    Present present;
    for (std::size_t i = 0; i < tangents.size(); ++i) {
      present.which.push_back(tangents[i].is_defined() && is_trainable(inputs[i].dtype()));
      if (present.which.back()) present.tensors.push_back(tangents[i]);
    }
    const DerivativeFunction& function = derivatives->tangents(present.which);
    const auto results = call(function, std::move(present.tensors));
    std::vector<Tensor> made;
    for (std::size_t k = 0; k < derivatives->recorded_count(); ++k) {
      const Gradient tangent = function.gradient_at(k, results);
      made.push_back(tangent.has_value() ? tangent.tensor() : Tensor());
    }
    return made;
  }
};

}  // namespace

NotedOperation Derivatives::note(const std::shared_ptr<const Derivatives>& of, std::vector<Tensor> inputs,
                                 std::vector<Tensor> outputs) {
  NotedOperation noted;
  noted.name = of->forward()->name();
  noted.inputs = inputs;
  noted.outputs.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(of->recorded_count()));
  noted.takes_absent_gradients = true;
  const auto call = std::make_shared<const Remembered>(Remembered{of, std::move(inputs), std::move(outputs)});
  noted.backward = [call](std::span<const Gradient> dy) { return call->backward(dy); };
  noted.forward = [call](std::span<const Tensor> tangents) { return call->forward(tangents); };
  return noted;
}

}  // namespace capstan
