#include <algorithm>
#include <deque>

#include "capstan/base/error.h"
#include "capstan/function/detail/flow.h"
#include "function/flow_ops.h"
#include "function/forward_form.h"
#include "function/subgraph.h"
#include "tensor/integers.h"

namespace capstan::detail {
namespace {

std::string branch_name(const std::string& name, std::size_t i, std::size_t count) {
  if (name == "cond" && count == 2) return i ? "cond_false" : "cond_true";
  return name + "_branch" + std::to_string(i);
}

void check_alike(const std::string& name, const TracedFunction& first, const TracedFunction& other) {
  const std::string whose = name + ": both branches must return the same tensors: ";
  if (first.outputs().size() != other.outputs().size())
    throw TypeError(whose + "'" + first.name() + "' returns " + std::to_string(first.outputs().size()) + ", '" +
                    other.name() + "' " + std::to_string(other.outputs().size()));
  for (std::size_t k = 0; k < first.outputs().size(); ++k)
    if (first.output(k).spec.dtype != other.output(k).spec.dtype)
      throw TypeError(whose + "output " + std::to_string(k) + " of '" + first.name() + "' has type " +
                      std::string(dtype_name(first.output(k).spec.dtype)) + ", that of '" + other.name() + "' " +
                      std::string(dtype_name(other.output(k).spec.dtype)));
}

std::vector<Tensor> apply_branches(const Tensor& choice, std::span<const TracedFunctionPtr> branches,
                                   std::vector<Tensor> inputs) {
  inputs.insert(inputs.begin(), choice);
  const bool is_stateful = std::ranges::any_of(branches, [](const auto& each) { return each->is_stateful(); });
  if (choice.dtype() != DType::int32 || branches.size() == 2) {
    IfAttributes attributes;
    attributes.then_branch = {branches[0]->name(), branches[0]};
    attributes.else_branch = {branches[1]->name(), branches[1]};
    attributes.Tout = output_types(*branches[0]);
    return apply_flow(is_stateful ? if_op : stateless_if_op, &attributes, inputs);
  }
  CaseAttributes attributes;
  for (const auto& branch : branches) attributes.branches.push_back({branch->name(), branch});
  attributes.Tout = output_types(*branches[0]);
  return apply_flow(is_stateful ? case_op : stateless_case_op, &attributes, inputs);
}

}  // namespace

bool is_decided_now(const Tensor& condition) { return !condition.is_symbolic(); }

void throw_branch_structures(const std::string& name, const std::string& first, const std::string& other) {
  throw TypeError(name + ": both branches must return the same structure, got containers of sizes " + first + " and " +
                  other);
}

std::size_t branch_number(const Tensor& index, std::size_t count) {
  if (index.size() != 1 || index.dtype() != DType::int32)
    throw InvalidArgument("switch_case: the index must be one int32, got " + std::string(dtype_name(index.dtype())) +
                          " of shape " + index.shape().to_string());
  const std::int64_t asked = integers_of(index)[0];
  return asked < 0 || asked >= static_cast<std::int64_t>(count) ? count - 1 : static_cast<std::size_t>(asked);
}

std::vector<Tensor> trace_branches(const std::string& name, const Tensor& choice, std::span<const BranchBody> branches,
                                   const std::function<void()>& check_structures) {
  Trace* outer = Trace::current();
  if (!outer)
    throw Unimplemented(name +
                        ": the condition differs from one member of a batch to the next; use where, or compute "
                        "the jacobian of one row at a time");
  std::deque<Subgraph> parts;
  std::vector<Subgraph*> all;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    all.push_back(&parts.emplace_back(outer->graph().unique_name(branch_name(name, i, branches.size())), *outer));
    all.back()->build(branches[i]);
  }
  check_structures();
  const auto captures = shared_captures(all);
  std::vector<TracedFunctionPtr> functions;
  for (Subgraph* part : all) functions.push_back(finish(*part, captures));
  for (const auto& function : functions) check_alike(name, *functions[0], *function);
  watch_inputs(captures);
  return apply_branches(choice, functions, captures);
}

}  // namespace capstan::detail
