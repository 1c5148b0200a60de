// Loops in their forward form: a call of a function whose loop also counts its iterations and pushes onto lists what
// derivatives will ask for. The gradient is a loop that pops it again, in reverse; the tangents are a loop that reads
// it in order.
#include <algorithm>
#include <functional>
#include <optional>

#include "autodiff/value_spec.h"
#include "capstan/base/error.h"
#include "capstan/function/detail/flow.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "function/call.h"
#include "function/derivatives.h"
#include "function/flow_forms.h"
#include "function/flow_ops.h"
#include "function/loop_lists.h"
#include "function/trace.h"
#include "function/zero_of.h"

namespace capstan {
namespace {

using Kind = DerivativeFunction::Place::Kind;

/// A value of each iteration that derivatives need.
struct Saved {
  enum class What { input, result, side } what;
  std::size_t index;
  TensorSpec spec;
};

/// A loop, its body's derivatives and what the forward form saves.
struct Loop {
  std::string name;
  bool is_full = false;
  TracedFunctionPtr condition, body;
  std::shared_ptr<const Derivatives> derivatives;
  std::vector<bool> is_invariant;  // for each value: passes through the body unchanged
  std::vector<Saved> saved;

  std::size_t value_count() const { return is_invariant.size(); }
  std::size_t counter() const { return value_count(); }
  std::size_t list(std::size_t p) const { return value_count() + 1 + p; }
  std::size_t recorded_count() const { return is_full ? list(saved.size()) : value_count(); }
  bool carries(std::size_t i) const { return is_trainable(body->input(i).spec.dtype); }

  /// The saved value that a capture of a derivative of the body stands for; nothing if it is an invariant input.
  std::optional<std::size_t> saved_at(Saved::What what, std::size_t index) const {
    for (std::size_t p = 0; p < saved.size(); ++p)
      if (saved[p].what == what && saved[p].index == index) return p;
    return {};
  }
};

/// The output behind identities.
Endpoint behind_identities(const GraphBody& graph, Endpoint at) {
  while (graph.node(at.node).type == "Identity") at = graph.node(at.node).inputs[0];
  return at;
}

void find_saved(Loop& loop) {
  const Derivatives& of = *loop.derivatives;
  const TracedFunction& body = *of.extended();
  for (std::size_t i = 0; i < loop.value_count(); ++i)
    if (of.needs_input(i) && !loop.is_invariant[i]) loop.saved.push_back({Saved::What::input, i, body.input(i).spec});
  for (std::size_t k = 0; k < loop.value_count(); ++k)
    if (of.needs_result(k)) loop.saved.push_back({Saved::What::result, k, body.output(k).spec});
  for (std::size_t s = 0; s < of.sides().size(); ++s)
    loop.saved.push_back({Saved::What::side, s, body.graph()->output(of.sides()[s]).spec});
}

/// A function of its own, of inputs like those of `like` and more, that captures nothing.
TracedFunctionPtr trace_alone(const std::string& name, const TracedFunction& like, std::size_t more_lists, bool counts,
                              const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  Trace trace(name);
  const Trace::Active active(trace);
  std::vector<Tensor> arguments;
  for (std::size_t i = 0; i < like.inputs().size(); ++i)
    arguments.push_back(
        trace.add_argument(like.graph()->node(like.inputs()[i].node).name, like.input(i).spec, like.input(i).resource));
  if (counts) arguments.push_back(trace.add_argument("iteration", {DType::int32, Shape{}}));
  for (std::size_t p = 0; p < more_lists; ++p)
    arguments.push_back(trace.add_argument("saved", {DType::variant, Shape{}}));
  return trace.finish(body(arguments));
}

/// One iteration that also saves.
TracedFunctionPtr saving_body(const Loop& loop) {
  return trace_alone(
      loop.body->name() + "_saving", *loop.body, loop.saved.size(), true, [&](std::span<const Tensor> values) {
        const auto inputs = values.first(loop.value_count());
        const auto made = call_function(loop.derivatives->forward(), inputs);
        std::vector<Tensor> next(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(loop.value_count()));
        next.push_back(values[loop.counter()] + 1);
        for (std::size_t p = 0; p < loop.saved.size(); ++p) {
          const Saved& saved = loop.saved[p];
          const Tensor& value = saved.what == Saved::What::input    ? inputs[saved.index]
                                : saved.what == Saved::What::result ? made[saved.index]
                                                                    : made[loop.value_count() + saved.index];
          next.push_back(push_back(values[loop.list(p)], value));
        }
        return next;
      });
}

TracedFunctionPtr saving_loop(const Loop& loop) {
  const auto condition = trace_alone(
      loop.condition->name() + "_saving", *loop.body, loop.saved.size(), true,
      [&](std::span<const Tensor> values) { return call_function(loop.condition, values.first(loop.value_count())); });
  const auto body = saving_body(loop);
  return trace_alone(loop.name + "_forward", *loop.body, 0, false, [&](std::span<const Tensor> values) {
    std::vector<Tensor> start(values.begin(), values.end());
    start.push_back(constant(0));
    for (const Saved& saved : loop.saved) start.push_back(empty_list(saved.spec));
    WhileAttributes attributes;
    attributes.cond = {condition->name(), condition};
    attributes.body = {body->name(), body};
    const std::vector<InputRef> refs(start.begin(), start.end());
    return apply_all(body->is_stateful() || condition->is_stateful() ? while_op : stateless_while_op, refs,
                     &attributes);
  });
}

/// One run of the forward form.
class RememberedLoop {
 public:
  RememberedLoop(std::shared_ptr<const Loop> loop, std::vector<Tensor> inputs, std::vector<Tensor> outputs)
      : loop_(std::move(loop)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  std::vector<Gradient> backward(std::span<const Gradient> dy) const;
  std::vector<Tensor> forward(std::span<const Tensor> tangents) const;

 private:
  /// What a derivative of the body asks for, with the saved values of one iteration.
  std::vector<Tensor> arguments_of(const DerivativeFunction& function, std::vector<Tensor> arguments,
                                   std::span<const Tensor> saved) const {
    std::vector<Tensor> inputs = inputs_;
    std::vector<Tensor> outputs(loop_->value_count() + loop_->derivatives->sides().size());
    for (std::size_t p = 0; p < saved.size(); ++p) {
      const Saved& what = loop_->saved[p];
      if (what.what == Saved::What::input) inputs[what.index] = saved[p];
      if (what.what == Saved::What::result) outputs[what.index] = saved[p];
      if (what.what == Saved::What::side) outputs[loop_->value_count() + what.index] = saved[p];
    }
    for (const Tensor& capture : function.function->captures())
      arguments.push_back(loop_->derivatives->value_of(capture, inputs, outputs));
    return arguments;
  }

  std::shared_ptr<const Loop> loop_;
  std::vector<Tensor> inputs_, outputs_;
};

/// The static shape of a value of the state, or of the variable behind a handle.
TensorSpec state_spec(const NodeOutput& input) {
  if (input.spec.dtype != DType::resource || !input.resource.get()) return input.spec;
  return {input.resource.get()->value_dtype(), input.resource.get()->value_shape()};
}

/// A tensor whose static shape says as much as `wanted`.
Tensor shaped(const Tensor& tensor, const Shape& wanted) {
  return tensor.dtype() == DType::variant || tensor.shape() == wanted || !wanted.has_rank()
             ? tensor
             : ensure_shape(tensor, wanted);
}

/// Which gradients or tangents go round: those that are there at the start and those that the body makes of them.
struct Round {
  std::vector<bool> values;  // of the state
  std::vector<bool> mask;    // of the body's outputs (gradients) or inputs (tangents)
  const DerivativeFunction* function = nullptr;
};

std::vector<Gradient> RememberedLoop::backward(std::span<const Gradient> dy) const {
  const Loop& loop = *loop_;
  const std::size_t n = loop.value_count();
  std::vector<Gradient> gradients(n);
  std::vector<bool> has_list(loop.saved.size());
  if (loop.is_full)
    for (std::size_t p = 0; p < has_list.size(); ++p)
      has_list[p] = dy[loop.list(p)].has_value() && is_trainable(loop.saved[p].spec.dtype);

  Round round{std::vector<bool>(n), {}, nullptr};
  bool any = std::ranges::count(has_list, true) > 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!dy[i].has_value()) continue;
    if (loop.is_invariant[i])
      gradients[i] = dy[i];
    else
      any |= round.values[i] = loop.carries(i);
  }
  if (!any) return gradients;
  for (bool grows = true; grows;) {
    grows = false;
    round.mask.assign(loop.derivatives->recorded_count(), false);
    for (std::size_t i = 0; i < n; ++i) round.mask[i] = round.values[i];
    for (std::size_t p = 0; p < has_list.size(); ++p) {
      if (!has_list[p]) continue;
      const Saved& saved = loop.saved[p];
      if (saved.what == Saved::What::side) round.mask[n + saved.index] = true;
      if (saved.what == Saved::What::result && !loop.is_invariant[saved.index]) round.mask[saved.index] = true;
      if (saved.what == Saved::What::input && !round.values[saved.index]) grows = round.values[saved.index] = true;
    }
    round.function = &loop.derivatives->backward(round.mask);
    for (std::size_t i = 0; i < n; ++i)
      if (!loop.is_invariant[i] && !round.values[i] && round.function->places[i].kind != Kind::none)
        grows = round.values[i] = true;
  }

  // The state: how many iterations are left, gradients of values, sums for invariants, lists, gradients of lists.
  std::vector<std::size_t> of_value, of_invariant, of_list;
  std::vector<Tensor> start{outputs_[loop.counter()]};
  std::vector<Shape> shapes{Shape{}};
  for (std::size_t i = 0; i < n; ++i) {
    if (!round.values[i]) continue;
    of_value.push_back(i);
    const Shape shape = state_spec(loop.body->input(i)).shape;
    start.push_back(shaped(dy[i].has_value() ? dy[i].tensor() : zero_of(outputs_[i]), shape));
    shapes.push_back(shape);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!loop.is_invariant[i] || round.function->places[i].kind == Kind::none) continue;
    of_invariant.push_back(i);
    const Shape shape = state_spec(loop.body->input(i)).shape;
    start.push_back(shaped(zero_of(inputs_[i]), shape));
    shapes.push_back(shape);
  }
  const std::size_t first_list = start.size();
  for (std::size_t p = 0; p < loop.saved.size(); ++p) start.push_back(outputs_[loop.list(p)]);
  for (std::size_t p = 0; p < loop.saved.size(); ++p) {
    if (!has_list[p]) continue;
    of_list.push_back(p);
    start.push_back(dy[loop.list(p)].tensor());
  }
  shapes.resize(start.size());

  const auto body = [&](std::span<const Tensor> state) {
    std::vector<Tensor> next{state[0] - 1}, lists, saved;
    for (std::size_t p = 0; p < loop.saved.size(); ++p) {
      auto [rest, value] = pop_back(state[first_list + p], loop.saved[p].spec);
      lists.push_back(rest);
      saved.push_back(value);
    }
    std::vector<Tensor> of_saved(loop.saved.size());  // gradients that arrive through lists
    for (std::size_t k = 0; k < of_list.size(); ++k) {
      auto [rest, value] = pop_back(state[first_list + loop.saved.size() + k], loop.saved[of_list[k]].spec);
      lists.push_back(rest);
      of_saved[of_list[k]] = value;
    }
    std::vector<Tensor> arriving(loop.derivatives->recorded_count());
    for (std::size_t k = 0; k < of_value.size(); ++k)
      if (round.mask[of_value[k]]) arriving[of_value[k]] = state[1 + k];
    const auto add = [](Tensor& sum, const Tensor& more) { sum = sum.is_defined() ? sum + more : more; };
    for (const std::size_t p : of_list) {
      const Saved& what = loop.saved[p];
      if (what.what == Saved::What::side) add(arriving[n + what.index], of_saved[p]);
      if (what.what == Saved::What::result && round.mask[what.index]) add(arriving[what.index], of_saved[p]);
    }
    std::vector<Tensor> arguments;
    for (std::size_t k = 0; k < arriving.size(); ++k) {
      if (round.mask[k]) arguments.push_back(arriving[k]);
    }
    const auto results =
        call_function(round.function->function, arguments_of(*round.function, std::move(arguments), saved));
    for (std::size_t k = 0; k < of_value.size(); ++k) {
      const std::size_t i = of_value[k];
      const Gradient through = round.function->gradient_at(i, results);
      Tensor gradient = through.has_value() ? through.tensor() : zeros_like(state[1 + k]);
      if (const auto p = loop.saved_at(Saved::What::input, i); p && of_saved[*p].is_defined())
        gradient = gradient + of_saved[*p];
      next.push_back(shaped(gradient, shapes[1 + k]));
    }
    for (std::size_t k = 0; k < of_invariant.size(); ++k) {
      const std::size_t at = 1 + of_value.size() + k;
      next.push_back(shaped(state[at] + round.function->gradient_at(of_invariant[k], results).tensor(), shapes[at]));
    }
    next.insert(next.end(), lists.begin(), lists.end());
    return next;
  };
  detail::LoopOptions options;
  options.name = loop.name + "_backward";
  options.shape_invariants = shapes;
  const auto finished = detail::run_loop(
      options, start, [](std::span<const Tensor> state) { return state[0] > 0; }, body);
  for (std::size_t k = 0; k < of_value.size(); ++k) gradients[of_value[k]] = finished[1 + k];
  for (std::size_t k = 0; k < of_invariant.size(); ++k) {
    const Tensor& sum = finished[1 + of_value.size() + k];
    Gradient& gradient = gradients[of_invariant[k]];
    gradient = gradient.has_value() ? Gradient(gradient.tensor() + sum) : Gradient(sum);
  }
  return gradients;
}

std::vector<Tensor> RememberedLoop::forward(std::span<const Tensor> tangents) const {
  const Loop& loop = *loop_;
  const std::size_t n = loop.value_count();
  Round round{std::vector<bool>(n), {}, nullptr};
  for (std::size_t i = 0; i < n; ++i)
    round.values[i] = i < tangents.size() && tangents[i].is_defined() && loop.carries(i);
  for (bool grows = true; grows;) {
    grows = false;
    round.mask = round.values;
    round.function = &loop.derivatives->tangents(round.mask);
    for (std::size_t i = 0; i < n; ++i)
      if (!loop.is_invariant[i] && !round.values[i] && round.function->places[i].kind != Kind::none)
        grows = round.values[i] = true;
  }
  std::vector<std::size_t> of_value, of_list;
  std::vector<Tensor> start{constant(0)};
  std::vector<Shape> shapes{Shape{}};
  for (std::size_t i = 0; i < n; ++i) {
    if (!round.values[i] || loop.is_invariant[i]) continue;
    of_value.push_back(i);
    const Shape shape = state_spec(loop.body->input(i)).shape;
    start.push_back(shaped(tangents[i].is_defined() ? tangents[i] : zero_of(inputs_[i]), shape));
    shapes.push_back(shape);
  }
  const auto place_of_saved = [&](const Saved& saved) -> std::optional<std::size_t> {  // among the body's outputs
    if (saved.what == Saved::What::input) return {};
    return saved.what == Saved::What::result ? saved.index : n + saved.index;
  };
  if (loop.is_full)
    for (std::size_t p = 0; p < loop.saved.size(); ++p) {
      const auto place = place_of_saved(loop.saved[p]);
      if (place ? round.function->places[*place].kind == Kind::none : !round.values[loop.saved[p].index]) continue;
      of_list.push_back(p);
      start.push_back(empty_list(loop.saved[p].spec));
    }
  shapes.resize(start.size());

  const auto body = [&](std::span<const Tensor> state) {
    std::vector<Tensor> saved, arguments;
    for (std::size_t p = 0; p < loop.saved.size(); ++p)
      saved.push_back(item_of(outputs_[loop.list(p)], state[0], loop.saved[p].spec));
    for (std::size_t i = 0; i < n; ++i) {
      if (!round.mask[i]) continue;
      const auto at = std::ranges::find(of_value, i);
      arguments.push_back(at == of_value.end() ? tangents[i]
                                               : state[1 + static_cast<std::size_t>(at - of_value.begin())]);
    }
    const auto results =
        call_function(round.function->function, arguments_of(*round.function, std::move(arguments), saved));
    std::vector<Tensor> next{state[0] + 1};
    for (std::size_t k = 0; k < of_value.size(); ++k) {
      const Gradient through = round.function->gradient_at(of_value[k], results);
      next.push_back(shaped(through.has_value() ? through.tensor() : zeros_like(state[1 + k]), shapes[1 + k]));
    }
    for (std::size_t k = 0; k < of_list.size(); ++k) {
      const Saved& what = loop.saved[of_list[k]];
      const auto place = place_of_saved(what);
      const auto value = std::ranges::find(of_value, what.index) - of_value.begin();
      const Tensor tangent =
          place ? round.function->gradient_at(*place, results).tensor() : state[1 + static_cast<std::size_t>(value)];
      next.push_back(push_back(state[1 + of_value.size() + k], tangent));
    }
    return next;
  };
  detail::LoopOptions options;
  options.name = loop.name + "_tangents";
  options.shape_invariants = shapes;
  const Tensor count = outputs_[loop.counter()];
  const auto finished = detail::run_loop(
      options, start, [&](std::span<const Tensor> state) { return state[0] < count; }, body);
  std::vector<Tensor> made(loop.recorded_count());
  for (std::size_t i = 0; i < n; ++i)
    if (loop.is_invariant[i] && round.values[i]) made[i] = tangents[i];
  for (std::size_t k = 0; k < of_value.size(); ++k) made[of_value[k]] = finished[1 + k];
  for (std::size_t k = 0; k < of_list.size(); ++k) made[loop.list(of_list[k])] = finished[1 + of_value.size() + k];
  return made;
}

}  // namespace

bool is_loop(const OpDef& op) { return &op == &while_op || &op == &stateless_while_op; }

ForwardForm loop_form(const OpDef& op, const void* attributes, DerivativeNeed need) {
  const auto& of = *static_cast<const WhileAttributes*>(attributes);
  auto loop = std::make_shared<Loop>();
  loop->name = op.name();
  loop->is_full = need == DerivativeNeed::full;
  loop->condition = traced(of.cond).shared_from_this();
  loop->body = traced(of.body).shared_from_this();
  loop->derivatives = loop->body->derivatives(loop->is_full);
  for (std::size_t i = 0; i < loop->body->inputs().size(); ++i)
    loop->is_invariant.push_back(behind_identities(*loop->body->graph(), loop->body->outputs()[i]) ==
                                 loop->body->inputs()[i]);
  find_saved(*loop);
  const auto forward = saving_loop(*loop);
  auto call = std::make_shared<CallAttributes>();
  call->f = {forward->name(), forward};
  call->Tout = output_types(*forward);
  ForwardForm form;
  form.op = forward->is_stateful() ? &stateful_partitioned_call_op : &partitioned_call_op;
  form.attributes = std::move(call);
  form.result_count = loop->value_count();
  form.note = [loop](std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
    NotedOperation noted;
    noted.name = loop->name;
    noted.inputs = inputs;
    noted.outputs.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(loop->recorded_count()));
    noted.takes_absent_gradients = true;
    const auto run = std::make_shared<const RememberedLoop>(loop, std::move(inputs), std::move(outputs));
    noted.backward = [run](std::span<const Gradient> dy) { return run->backward(dy); };
    noted.forward = [run](std::span<const Tensor> tangents) { return run->forward(tangents); };
    return noted;
  };
  return form;
}

}  // namespace capstan
