#include "function/created_variables.h"

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "graph/plan.h"
#include "ops/state.h"

namespace capstan {

bool is_tracing() { return Trace::current() != nullptr; }

void note_created_variable(const Tensor& handle, const Tensor& initial_value) {
  Trace* trace = Trace::current();
  if (!trace) return;
  CreatedVariable created{handle, {}};
  if (initial_value.is_defined()) created.initial_value = trace->resolve(initial_value, "Variable");
  trace->created_variables().push_back(std::move(created));
}

void initialize(const TracedFunction& function, std::span<const CreatedVariable> variables,
                std::span<const Tensor> arguments) {
  GraphFunction::Parts parts{function.name() + "_initialization", function.graph(), function.inputs(), {}, {}};
  std::vector<Tensor> handles;
  for (const CreatedVariable& variable : variables) {
    if (!variable.initial_value) continue;
    parts.outputs.push_back(*variable.initial_value);
    handles.push_back(variable.handle);
  }
  if (handles.empty()) return;
  // Only what the values need: the side effects of the body happen once, in the call that follows.
  const Plan plan(*parts.graph, parts.inputs, parts.outputs, {}, parts.name);
  std::vector<Tensor> inputs(arguments.begin(), arguments.end());
  inputs.insert(inputs.end(), function.captures().begin(), function.captures().end());
  for (const Tensor& input : inputs)
    if (input.is_symbolic())
      throw Unimplemented("function '" + function.name() +
                          "': makes a variable whose initial value depends on tensors of a function that is being "
                          "traced itself; make the variable from a constant");
  const std::vector<Tensor> values = plan.run_over(std::move(inputs));
  const InitScope eager;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const AssignAttributes attributes{.dtype = values[i].dtype(), .validate_shape = false};
    apply_all(assign_variable_op, {handles[i], values[i]}, &attributes);
  }
}

}  // namespace capstan
