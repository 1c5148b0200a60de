// Branches in their forward form. Every branch hands out what the derivatives of any branch ask for; a branch that has
// no such value hands out a dummy in its place, at which nobody looks. The derivative of a branch is a branch on the
// same condition.
#include <algorithm>
#include <functional>

#include "capstan/base/error.h"
#include "capstan/function/detail/flow.h"
#include "capstan/ops/array.h"
#include "function/call.h"
#include "function/derivatives.h"
#include "function/flow_forms.h"
#include "function/flow_ops.h"
#include "function/zero_of.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

/// A further output of the forward form, which branches share where type and shape agree.
struct Slot {
  TensorSpec spec;
  std::vector<int> side_of;  // for each branch the number of its side value, -1 for none
};

/// The branches' derivatives and where their values stand among the outputs of the forward form.
struct Branches {
  std::string name;
  std::vector<std::shared_ptr<const Derivatives>> derivatives;
  std::vector<Slot> slots;
  std::size_t result_count = 0;
  bool is_full = false;

  std::size_t recorded_count() const { return result_count + (is_full ? slots.size() : 0); }

  /// The outputs of branch `b`'s own forward form among all outputs.
  std::vector<Tensor> outputs_of(std::size_t b, std::span<const Tensor> all) const {
    std::vector<Tensor> own(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(result_count));
    own.resize(result_count + derivatives[b]->sides().size());
    for (std::size_t s = 0; s < slots.size(); ++s)
      if (slots[s].side_of[b] >= 0)
        own[result_count + static_cast<std::size_t>(slots[s].side_of[b])] = all[result_count + s];
    return own;
  }
};

void assign_slots(Branches& branches) {
  for (std::size_t b = 0; b < branches.derivatives.size(); ++b) {
    const Derivatives& of = *branches.derivatives[b];
    for (std::size_t i = 0; i < of.sides().size(); ++i) {
      const TensorSpec& spec = of.extended()->graph()->output(of.sides()[i]).spec;
      const auto fits = [&](const Slot& slot) {
        return slot.side_of[b] < 0 && slot.spec.dtype == spec.dtype && slot.spec.shape == spec.shape;
      };
      auto slot = std::ranges::find_if(branches.slots, fits);
      if (slot == branches.slots.end())
        slot = branches.slots.insert(slot, {spec, std::vector<int>(branches.derivatives.size(), -1)});
      slot->side_of[b] = static_cast<int>(i);
    }
  }
}

/// A value of that type, however small.
Tensor dummy(DType dtype) {
  if (!is_plain(dtype)) return new_tensor(dtype, Shape{});
  return constant_as(constant(0), dtype);
}

/// The forward form of branch `b` with an output for every slot.
TracedFunctionPtr with_slots(const Branches& branches, std::size_t b) {
  const TracedFunction& forward = *branches.derivatives[b]->forward();
  const std::shared_ptr<GraphBody> graph = forward.graph()->copy();
  GraphFunction::Parts parts{forward.name(), graph, forward.inputs(), branches.derivatives[b]->extended()->outputs(),
                             forward.targets()};
  for (const Slot& slot : branches.slots)
    parts.outputs.push_back(slot.side_of[b] < 0
                                ? Endpoint{graph->add(constant_node(dummy(slot.spec.dtype))), 0}
                                : branches.derivatives[b]->sides()[static_cast<std::size_t>(slot.side_of[b])]);
  return std::make_shared<TracedFunction>(
      std::move(parts), TracedFunction::Origin{forward.captures(), forward.embedded(), forward.noted()});
}

/// One call of the forward form: condition, then the branches' inputs.
struct RememberedBranch {
  Branches branches;
  std::vector<Tensor> inputs, outputs;

  std::span<const Tensor> branch_inputs() const { return std::span(inputs).subspan(1); }

  std::vector<Tensor> run(std::size_t b, const DerivativeFunction& function, std::vector<Tensor> arguments) const {
    const auto own = branches.outputs_of(b, outputs);
    for (const Tensor& capture : function.function->captures())
      arguments.push_back(branches.derivatives[b]->value_of(capture, branch_inputs(), own));
    return call_function(function.function, arguments);
  }

  /// Which of a branch's own outputs have a gradient or tangent, and these.
  template <class Has, class Value>
  std::pair<std::vector<bool>, std::vector<Tensor>> present(std::size_t b, Has&& has, Value&& value) const {
    std::vector<bool> which(branches.derivatives[b]->recorded_count());
    std::vector<std::size_t> from(which.size());
    for (std::size_t k = 0; k < branches.result_count; ++k) which[k] = has(from[k] = k);
    if (branches.is_full)
      for (std::size_t s = 0; s < branches.slots.size(); ++s) {
        if (branches.slots[s].side_of[b] < 0) continue;
        const std::size_t own = branches.result_count + static_cast<std::size_t>(branches.slots[s].side_of[b]);
        which[own] = has(from[own] = branches.result_count + s);
      }
    std::vector<Tensor> tensors;
    for (std::size_t k = 0; k < which.size(); ++k)
      if (which[k]) tensors.push_back(value(from[k]));
    return {std::move(which), std::move(tensors)};
  }

  /// A branch on the same condition that computes `count` derivatives, those that any branch has; `absent(b, i)` stands
  /// in where one has none.
  std::vector<Gradient> choose(std::size_t count, const std::function<std::vector<Gradient>(std::size_t)>& derivative,
                               const std::function<bool(std::size_t, std::size_t)>& has,
                               const std::function<Tensor(std::size_t)>& absent) const {
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < count; ++i) {
      bool any = false;
      for (std::size_t b = 0; b < branches.derivatives.size(); ++b) any |= has(b, i);
      if (any) wanted.push_back(i);
    }
    std::vector<Gradient> all(count);
    if (wanted.empty()) return all;
    std::vector<detail::BranchBody> bodies;
    for (std::size_t b = 0; b < branches.derivatives.size(); ++b)
      bodies.push_back([&, b] {
        const auto made = derivative(b);
        std::vector<Tensor> tensors;
        for (const std::size_t i : wanted) tensors.push_back(made[i].has_value() ? made[i].tensor() : absent(i));
        return tensors;
      });
    const auto results = detail::trace_branches(branches.name + "_derivative", inputs[0], bodies, [] {});
    for (std::size_t i = 0; i < wanted.size(); ++i) all[wanted[i]] = results[i];
    return all;
  }

  std::vector<Gradient> backward(std::span<const Gradient> dy) const {
    const auto function_of = [&](std::size_t b) {
      auto [which, tensors] = present(
          b, [&](std::size_t k) { return dy[k].has_value() && is_trainable(outputs[k].dtype()); },
          [&](std::size_t k) { return dy[k].tensor(); });
      return std::pair(&branches.derivatives[b]->backward(which), std::move(tensors));
    };
    auto gradients = choose(
        branch_inputs().size(),
        [&](std::size_t b) {
          auto [function, tensors] = function_of(b);
          const auto results = run(b, *function, std::move(tensors));
          std::vector<Gradient> made;
          for (std::size_t i = 0; i < branch_inputs().size(); ++i) made.push_back(function->gradient_at(i, results));
          return made;
        },
        [&](std::size_t b, std::size_t i) {
          return function_of(b).first->places[i].kind != DerivativeFunction::Place::Kind::none;
        },
        [&](std::size_t i) { return zero_of(branch_inputs()[i]); });
    gradients.insert(gradients.begin(), Gradient());  // the condition
    return gradients;
  }

  std::vector<Tensor> forward(std::span<const Tensor> tangents) const {
    std::vector<bool> which;
    std::vector<Tensor> arguments;
    for (std::size_t i = 1; i < tangents.size(); ++i) {
      which.push_back(tangents[i].is_defined() && is_trainable(inputs[i].dtype()));
      if (which.back()) arguments.push_back(tangents[i]);
    }
    const auto place = [&](std::size_t b, std::size_t k) -> int {  // of output k among the branch's own
      if (k < branches.result_count) return static_cast<int>(k);
      const int side = branches.slots[k - branches.result_count].side_of[b];
      return side < 0 ? -1 : static_cast<int>(branches.result_count) + side;
    };
    const auto made = choose(
        branches.recorded_count(),
        [&](std::size_t b) {
          const DerivativeFunction& function = branches.derivatives[b]->tangents(which);
          const auto results = run(b, function, arguments);
          std::vector<Gradient> all(branches.recorded_count());
          for (std::size_t k = 0; k < all.size(); ++k)
            if (const int own = place(b, k); own >= 0)
              all[k] = function.gradient_at(static_cast<std::size_t>(own), results);
          return all;
        },
        [&](std::size_t b, std::size_t k) {
          const int own = place(b, k);
          return own >= 0 && branches.derivatives[b]->tangents(which).places[static_cast<std::size_t>(own)].kind !=
                                 DerivativeFunction::Place::Kind::none;
        },
        [&](std::size_t k) { return zeros_like(outputs[k]); });
    std::vector<Tensor> result;
    for (const Gradient& tangent : made) result.push_back(tangent.has_value() ? tangent.tensor() : Tensor());
    return result;
  }
};

std::vector<FunctionAttribute> branches_of(const OpDef& op, const void* attributes) {
  if (&op == &case_op || &op == &stateless_case_op) return static_cast<const CaseAttributes*>(attributes)->branches;
  const auto& of = *static_cast<const IfAttributes*>(attributes);
  return {of.then_branch, of.else_branch};
}

std::shared_ptr<const void> with_branches(const OpDef& op, const void* attributes,
                                          std::vector<FunctionAttribute> branches, std::vector<DType> types) {
  if (&op == &case_op || &op == &stateless_case_op) {
    auto changed = std::make_shared<CaseAttributes>(*static_cast<const CaseAttributes*>(attributes));
    changed->branches = std::move(branches);
    changed->Tout = std::move(types);
    changed->output_shapes.clear();
    return changed;
  }
  auto changed = std::make_shared<IfAttributes>(*static_cast<const IfAttributes*>(attributes));
  changed->then_branch = std::move(branches[0]);
  changed->else_branch = std::move(branches[1]);
  changed->Tout = std::move(types);
  changed->output_shapes.clear();
  return changed;
}

}  // namespace

bool is_branch(const OpDef& op) {
  return &op == &if_op || &op == &stateless_if_op || &op == &case_op || &op == &stateless_case_op;
}

ForwardForm branch_form(const OpDef& op, const void* attributes, DerivativeNeed need) {
  auto branches = std::make_shared<Branches>();
  branches->is_full = need == DerivativeNeed::full;
  branches->name = op.name();
  const auto functions = branches_of(op, attributes);
  for (const FunctionAttribute& branch : functions)
    branches->derivatives.push_back(traced(branch).derivatives(branches->is_full));
  branches->result_count = branches->derivatives[0]->result_count();
  assign_slots(*branches);
  std::vector<FunctionAttribute> forward;
  for (std::size_t b = 0; b < functions.size(); ++b) forward.push_back({functions[b].name, with_slots(*branches, b)});
  const auto types = output_types(*forward[0].function);
  ForwardForm form;
  form.op = &op;
  form.result_count = branches->result_count;
  form.attributes = with_branches(op, attributes, std::move(forward), types);
  form.note = [branches](std::vector<Tensor> inputs, std::vector<Tensor> outputs) {
    NotedOperation noted;
    noted.name = branches->name;
    noted.inputs = inputs;
    noted.outputs.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(branches->recorded_count()));
    noted.takes_absent_gradients = true;
    const auto call =
        std::make_shared<const RememberedBranch>(RememberedBranch{*branches, std::move(inputs), std::move(outputs)});
    noted.backward = [call](std::span<const Gradient> dy) { return call->backward(dy); };
    noted.forward = [call](std::span<const Tensor> tangents) { return call->forward(tangents); };
    return noted;
  };
  return form;
}

}  // namespace capstan
