#include "function/forward_form.h"

#include "autodiff/accumulator.h"
#include "autodiff/tape.h"
#include "capstan/base/error.h"
#include "function/call.h"
#include "function/derivatives.h"
#include "function/flow_forms.h"
#include "function/flow_ops.h"
#include "function/trace.h"

namespace capstan {
namespace {

std::shared_ptr<const CallAttributes> call_attributes(const TracedFunctionPtr& function) {
  auto attributes = std::make_shared<CallAttributes>();
  attributes->f = {function->name(), function};
  attributes->Tout = output_types(*function);
  return attributes;
}

const OpDef& call_op(const TracedFunction& function) {
  return function.is_stateful() ? stateful_partitioned_call_op : partitioned_call_op;
}

ForwardForm call_form(const CallAttributes& attributes, DerivativeNeed need) {
  const auto derivatives = traced(attributes.f).derivatives(need == DerivativeNeed::full);
  ForwardForm form;
  form.op = &call_op(*derivatives->forward());
  form.attributes = call_attributes(derivatives->forward());
  form.result_count = derivatives->result_count();
  form.note = [derivatives](std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
    return Derivatives::note(derivatives, std::move(inputs), std::move(outputs));
  };
  return form;
}

bool is_call(const OpDef& op) { return &op == &partitioned_call_op || &op == &stateful_partitioned_call_op; }

}  // namespace

const TracedFunction& traced(const FunctionAttribute& attribute) {
  const auto* function = dynamic_cast<const TracedFunction*>(attribute.function.get());
  if (!function)
    throw Unimplemented("the function '" + attribute.name + "' cannot be differentiated: its graph is not known");
  return *function;
}

bool has_forward_form(const OpDef& op) { return is_call(op) || is_branch(op) || is_loop(op); }

std::optional<ForwardForm> forward_form(const OpDef& op, const void* attributes, DerivativeNeed need) {
  if (is_call(op)) return call_form(*static_cast<const CallAttributes*>(attributes), need);
  if (is_branch(op)) return branch_form(op, attributes, need);
  if (is_loop(op)) return loop_form(op, attributes, need);
  return {};
}

DerivativeNeed derivative_need(std::span<const Tensor> inputs) {
  if (Tape::alive().empty() && Accumulator::alive().empty()) return DerivativeNeed::none;
  const int order = possible_gradient_order(inputs);
  if (order == 0) return DerivativeNeed::none;
  // In a trace somebody may differentiate later what a tape computes now.
  return order > 1 || thread_state().recorder || !Accumulator::alive().empty() ? DerivativeNeed::full
                                                                               : DerivativeNeed::first;
}

namespace {

/// The same values as tensors of the trace that is active: what a trace keeps must not hold the traces around it, which
/// hold it.
std::vector<Tensor> of_this_trace(std::span<const Tensor> tensors) {
  std::vector<Tensor> own(tensors.begin(), tensors.end());
  if (Trace* trace = Trace::current())
    for (Tensor& tensor : own)
      if (tensor.is_symbolic()) tensor = trace->graph().tensor(trace->resolve(tensor, "a call"));
  return own;
}

/// The function as an attribute of a node.
TracedFunctionPtr for_node(const TracedFunctionPtr& function) {
  std::vector<Tensor> captures = function->captures();
  forget_symbolic(captures);
  bool is_same = true;
  for (std::size_t i = 0; i < captures.size(); ++i) is_same &= captures[i].is_same(function->captures()[i]);
  if (is_same) return function;
  return std::make_shared<TracedFunction>(
      GraphFunction::Parts{function->name(), function->graph(), function->inputs(), function->outputs(),
                           function->targets()},
      TracedFunction::Origin{std::move(captures), function->embedded(), function->noted()});
}

}  // namespace

std::vector<Tensor> apply_flow(const OpDef& op, const void* attributes, std::span<const Tensor> inputs) {
  const DerivativeNeed need = derivative_need(inputs);
  const std::vector<InputRef> refs(inputs.begin(), inputs.end());
  if (need == DerivativeNeed::none) return apply_all(op, refs, attributes);
  const ForwardForm form = *forward_form(op, attributes, need);
  std::vector<Tensor> outputs;
  {
    const PauseObservers silent;
    outputs = apply_all(*form.op, refs, form.attributes.get());
  }
  NotedOperation noted = form.note(of_this_trace(inputs), outputs);
  noted.inputs.assign(inputs.begin(), inputs.end());  // by which tapes know them
  record_operation(noted.as_recorded());
  outputs.resize(form.result_count);
  return outputs;
}

std::vector<Tensor> call_function(const TracedFunctionPtr& function, std::span<const Tensor> inputs) {
  if (!thread_state().recorder && derivative_need(inputs) == DerivativeNeed::none) return function->run(inputs);
  const TracedFunctionPtr called = thread_state().recorder ? for_node(function) : function;
  return apply_flow(call_op(*called), call_attributes(called).get(), inputs);
}

}  // namespace capstan
