#include "graph/graph_function.h"

#include <algorithm>

#include "graph/passes.h"
#include "graph/plan.h"

namespace capstan {
namespace {

FunctionEffects effects_of(const GraphFunction::Parts& parts) {
  FunctionEffects effects;
  effects.writes_input.resize(parts.inputs.size());
  for (std::int32_t i = 0; i < parts.graph->size(); ++i) {
    const NodeEffects of_node = capstan::effects_of(*parts.graph, parts.graph->node(i));
    for (const std::size_t at : of_node.writes) {
      const Endpoint root = EffectOrder::root_of(*parts.graph, parts.graph->node(i).inputs[at]);
      const auto input = std::ranges::find(parts.inputs, root);
      if (input != parts.inputs.end())
        effects.writes_input[static_cast<std::size_t>(input - parts.inputs.begin())] = true;
    }
    effects.kinds.insert(effects.kinds.end(), of_node.kinds.begin(), of_node.kinds.end());
  }
  std::ranges::sort(effects.kinds);
  const auto repeated = std::ranges::unique(effects.kinds);
  effects.kinds.erase(repeated.begin(), repeated.end());
  return effects;
}

}  // namespace

GraphFunction::GraphFunction(Parts parts) : parts_(std::move(parts)), effects_(effects_of(parts_)) {
  for (std::int32_t i = 0; i < parts_.graph->size(); ++i) {
    const OpDef* op = parts_.graph->node(i).op;
    is_stateful_ |= !op || op->facts.stateful;
  }
}

GraphFunction::~GraphFunction() = default;

const Plan& GraphFunction::plan() const {
  std::call_once(is_planned_, [&] {
    Parts parts = parts_;
    for (std::int32_t i = 0; i < parts.graph->size(); ++i)
      if (capstan::effects_of(*parts.graph, parts.graph->node(i)).must_run()) parts.targets.push_back(i);
    parts = simplified(parts);
    plan_ = std::make_unique<const Plan>(*parts.graph, parts.inputs, parts.outputs, parts.targets, parts.name);
  });
  return *plan_;
}

std::vector<Tensor> GraphFunction::run(std::span<const Tensor> inputs) const {
  return plan().run_over(std::vector<Tensor>(inputs.begin(), inputs.end()));
}
std::vector<Tensor> GraphFunction::run_over(std::vector<Tensor> inputs) const {
  return plan().run_over(std::move(inputs));
}

}  // namespace capstan
