#include "function/subgraph.h"

#include <algorithm>
#include <set>

#include "autodiff/tape.h"
#include "capstan/base/error.h"
#include "tensor/storage.h"

namespace capstan {

void Subgraph::build(const std::function<std::vector<Tensor>()>& body) {
  const Trace::Active active(trace_);
  outputs_ = body();
  for (CreatedVariable& variable : trace_.created_variables()) {
    if (variable.initial_value)
      throw Unimplemented("'" + trace_.graph().name() +
                          "': makes a variable from a value that a branch or loop computes; make it before");
    outer_.created_variables().push_back(std::move(variable));
  }
  for (const Tensor& output : outputs_) trace_.resolve(output, trace_.graph().name());
}

std::vector<Tensor> shared_captures(std::span<Subgraph* const> parts) {
  std::vector<Tensor> captures;
  std::set<Endpoint> seen;  // as the trace around knows them
  for (Subgraph* part : parts)
    for (const Tensor& capture : part->trace_.captures())
      if (seen.insert(part->outer_.resolve(capture, part->trace_.graph().name())).second) captures.push_back(capture);
  return captures;
}

TracedFunctionPtr finish(Subgraph& part, std::span<const Tensor> captures) {
  return part.trace_.finish_with(part.outputs_, captures, part.outer_);
}

void watch_inputs(std::span<const Tensor> inputs) {
  if (!thread_state().observers) return;
  for (const Tensor& input : inputs)
    if (input.dtype() == DType::resource && resource_of(input)->is_trainable()) watch_accessed_variable(input);
}

}  // namespace capstan
