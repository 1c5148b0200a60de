#include <algorithm>

#include "capstan/base/error.h"
#include "capstan/function/detail/flow.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "function/flow_ops.h"
#include "function/forward_form.h"
#include "function/loop_layout.h"
#include "function/subgraph.h"

namespace capstan::detail {
namespace {

void check_count(const LoopOptions& options, std::size_t expected, std::size_t got) {
  if (expected != got)
    throw InvalidArgument(options.name + ": the body must return as many tensors as the state has: " +
                          std::to_string(expected) + ", got " + std::to_string(got));
}

void check_value(const LoopOptions& options, std::size_t i, const TensorSpec& before, const Tensor& after) {
  const std::string whose = options.name + ": tensor " + std::to_string(i) + " of the state ";
  if (before.dtype != after.dtype())
    throw TypeError(whose + "enters with type " + std::string(dtype_name(before.dtype)) + ", but has type " +
                    std::string(dtype_name(after.dtype())) + " after 1 iteration");
}

/// Does `narrow` say at least as much as `wide`?
bool fits_into(const Shape& narrow, const Shape& wide) {
  if (!wide.has_rank()) return true;
  if (!narrow.has_rank() || narrow.rank() != wide.rank()) return false;
  for (int i = 0; i < wide.rank(); ++i)
    if (wide[i] >= 0 && narrow[i] != wide[i]) return false;
  return true;
}

std::vector<Tensor> run_now(const LoopOptions& options, std::vector<Tensor> values, const LoopCondition& condition,
                            const LoopStep& body) {
  for (std::int64_t n = 0; options.maximum_iterations < 0 || n < options.maximum_iterations; ++n) {
    if (!static_cast<bool>(condition(values))) break;
    std::vector<Tensor> next = body(values);
    check_count(options, values.size(), next.size());
    for (std::size_t i = 0; i < next.size(); ++i)
      check_value(options, i, {values[i].dtype(), values[i].shape()}, next[i]);
    values = std::move(next);
  }
  return values;
}

/// The loop as a node.
class TracedLoop {
 public:
  TracedLoop(const LoopOptions& options, std::vector<Tensor> start, Trace& outer)
      : options_(options),
        start_(std::move(start)),
        condition_(outer.graph().unique_name(options.name + "_cond"), outer),
        body_(outer.graph().unique_name(options.name + "_body"), outer) {
    if (!options.shape_invariants.empty() && options.shape_invariants.size() != start_.size())
      throw InvalidArgument(options.name + ": shape_invariants must list one shape for each of the " +
                            std::to_string(start_.size()) + " tensors of the state, got " +
                            std::to_string(options.shape_invariants.size()));
    for (std::size_t i = 0; i < start_.size(); ++i) specs_.push_back(spec_of_value(i));
  }

  void build(const LoopCondition& condition, const LoopStep& body) {
    const auto of_condition = arguments(condition_.trace());
    condition_.build([&] {
      const Tensor user = condition(std::span(of_condition).subspan(LoopLayout::kFirstValue));
      if (options_.maximum_iterations < 0) return std::vector{user};
      return std::vector{
          logical_and(of_condition[LoopLayout::kCounter] < of_condition[LoopLayout::kLimit], reshape(user, Shape{}))};
    });
    const auto of_body = arguments(body_.trace());
    body_.build([&] {
      std::vector<Tensor> next{of_body[LoopLayout::kCounter] + 1, identity(of_body[LoopLayout::kLimit])};
      for (Tensor& value : checked(body(std::span(of_body).subspan(LoopLayout::kFirstValue))))
        next.push_back(std::move(value));
      return next;
    });
  }

  std::vector<Tensor> apply() {
    Subgraph* const parts[] = {&condition_, &body_};
    const auto captures = shared_captures(parts);
    WhileAttributes attributes;
    const auto condition = finish(condition_, captures);
    const auto body = with_invariants(*finish(body_, captures));
    attributes.cond = {condition->name(), condition};
    attributes.body = {body->name(), body};
    attributes.parallel_iterations = options_.parallel_iterations;
    std::vector<Tensor> inputs{constant(0), constant(static_cast<std::int32_t>(options_.maximum_iterations))};
    inputs.insert(inputs.end(), start_.begin(), start_.end());
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    watch_inputs(captures);
    const bool is_stateful = condition->is_stateful() || body->is_stateful();
    const auto outputs = apply_flow(is_stateful ? while_op : stateless_while_op, &attributes, inputs);
    const auto first = outputs.begin() + LoopLayout::kFirstValue;
    std::vector<Tensor> values(first, first + static_cast<std::ptrdiff_t>(start_.size()));
    if (!options_.back_prop)
      for (Tensor& value : values) value = stop_gradient(value);
    return values;
  }

 private:
  TensorSpec spec_of_value(std::size_t i) const {
    const Tensor& value = start_[i];
    if (options_.shape_invariants.empty()) return {value.dtype(), value.shape()};
    const Shape& invariant = options_.shape_invariants[i];
    if (!fits_into(value.shape(), invariant))
      throw InvalidArgument(options_.name + ": tensor " + std::to_string(i) + " of the state has shape " +
                            value.shape().to_string() + ", which its shape invariant " + invariant.to_string() +
                            " does not cover");
    return {value.dtype(), invariant};
  }

  std::vector<Tensor> arguments(Trace& trace) const {
    std::vector<Tensor> all{trace.add_argument("loop_counter", {DType::int32, Shape{}}),
                            trace.add_argument("maximum_iterations", {DType::int32, Shape{}})};
    for (std::size_t i = 0; i < specs_.size(); ++i) all.push_back(trace.add_argument("loop_var", specs_[i]));
    return all;
  }

  std::vector<Tensor> checked(std::vector<Tensor> next) const {
    check_count(options_, specs_.size(), next.size());
    for (std::size_t i = 0; i < next.size(); ++i) {
      check_value(options_, i, specs_[i], next[i]);
      if (!fits_into(next[i].shape(), specs_[i].shape))
        throw InvalidArgument(options_.name + ": tensor " + std::to_string(i) + " of the state enters with shape " +
                              specs_[i].shape.to_string() + ", but has shape " + next[i].shape().to_string() +
                              " after 1 iteration; give a less specific shape in shape_invariants");
    }
    return next;
  }

  const LoopOptions& options_;
  const std::vector<Tensor> start_;
  std::vector<TensorSpec> specs_;
  Subgraph condition_, body_;
};

}  // namespace

std::vector<Tensor> run_loop(const LoopOptions& options, std::vector<Tensor> start, const LoopCondition& condition,
                             const LoopStep& body) {
  Trace* outer = Trace::current();
  if (!outer) {
    auto values = run_now(options, std::move(start), condition, body);
    if (!options.back_prop)
      for (Tensor& value : values) value = stop_gradient(value);
    return values;
  }
  TracedLoop loop(options, std::move(start), *outer);
  loop.build(condition, body);
  return loop.apply();
}

}  // namespace capstan::detail

namespace capstan {

TracedFunctionPtr with_invariants(const TracedFunction& body) {
  GraphFunction::Parts parts{body.name(), body.graph(), body.inputs(), body.outputs(), body.targets()};
  for (std::size_t i = body.argument_count(); i < body.inputs().size(); ++i) parts.outputs.push_back(body.inputs()[i]);
  return std::make_shared<TracedFunction>(std::move(parts),
                                          TracedFunction::Origin{body.captures(), body.embedded(), body.noted()});
}

}  // namespace capstan
