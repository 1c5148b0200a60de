#include "graph/effects.h"

#include <algorithm>

#include "graph/graph_function.h"

namespace capstan {
namespace {

/// The functions that a node calls.
std::vector<const GraphFunction*> callees(const Node& node) {
  std::vector<const GraphFunction*> functions;
  if (!node.op || !node.op->attributes) return functions;
  const auto note = [&](const FunctionAttribute& each) {
    if (each.function) functions.push_back(each.function.get());
  };
  for (const AttributeField& field : node.op->attributes().fields) {
    if (field.kind < AttributeValue(FunctionAttribute()).index()) continue;
    const AttributeValue value = field.get(node.attributes.get(), field.offset);
    if (const auto* one = std::get_if<FunctionAttribute>(&value)) note(*one);
    if (const auto* many = std::get_if<std::vector<FunctionAttribute>>(&value)) std::ranges::for_each(*many, note);
  }
  return functions;
}

bool is_handle(const GraphBody& graph, Endpoint at) { return graph.output(at).spec.dtype == DType::resource; }

/// A call, branch or loop does what its functions do. Their inputs are the node's last ones.
NodeEffects effects_of_callees(const GraphBody& graph, const Node& node,
                               std::span<const GraphFunction* const> functions) {
  NodeEffects effects;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_handle(graph, node.inputs[i])) continue;
    bool writes = false;
    for (const GraphFunction* function : functions) {
      const auto& of_inputs = function->effects().writes_input;
      const std::size_t skipped = node.inputs.size() - std::min(node.inputs.size(), of_inputs.size());
      writes |= i >= skipped && of_inputs[i - skipped];
    }
    (writes ? effects.writes : effects.reads).push_back(i);
  }
  for (const GraphFunction* function : functions)
    for (const std::string& kind : function->effects().kinds)
      if (!std::ranges::count(effects.kinds, kind)) effects.kinds.push_back(kind);
  return effects;
}

void wait_for(GraphBody& graph, std::int32_t node, std::int32_t before) {
  auto& controls = graph.mutable_node(node).control_inputs;
  if (before >= 0 && before != node && !std::ranges::count(controls, before)) controls.push_back(before);
}

}  // namespace

bool FunctionEffects::any() const { return !kinds.empty() || std::ranges::count(writes_input, true) > 0; }

NodeEffects effects_of(const GraphBody& graph, const Node& node) {
  if (const auto functions = callees(node); !functions.empty()) return effects_of_callees(graph, node, functions);
  NodeEffects effects;
  if (!node.op || !node.op->facts.stateful) return effects;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (is_handle(graph, node.inputs[i])) (node.op->facts.reads_only ? effects.reads : effects.writes).push_back(i);
  const auto makes_handle = [](const NodeOutput& output) { return output.spec.dtype == DType::resource; };
  if (effects.reads.empty() && effects.writes.empty() && std::ranges::none_of(node.outputs, makes_handle))
    effects.kinds.push_back(node.type);
  return effects;
}

Endpoint EffectOrder::root_of(const GraphBody& graph, Endpoint handle) {
  for (;;) {
    const Node& node = graph.node(handle.node);
    const auto at = static_cast<std::size_t>(handle.output);
    if (at >= node.inputs.size() || !is_handle(graph, node.inputs[at])) return handle;
    handle = node.inputs[at];
  }
}

void EffectOrder::read(GraphBody& graph, Line& line, std::int32_t node) {
  wait_for(graph, node, line.writer);
  line.readers.push_back(node);
}

void EffectOrder::write(GraphBody& graph, Line& line, std::int32_t node) {
  if (line.readers.empty()) wait_for(graph, node, line.writer);
  for (const std::int32_t reader : line.readers) wait_for(graph, node, reader);
  line.writer = node;
  line.readers.clear();
}

void EffectOrder::add(GraphBody& graph, std::int32_t index) {
  const NodeEffects effects = effects_of(graph, graph.node(index));
  for (const std::size_t i : effects.reads) read(graph, resources_[root_of(graph, graph.node(index).inputs[i])], index);
  for (const std::size_t i : effects.writes)
    write(graph, resources_[root_of(graph, graph.node(index).inputs[i])], index);
  for (const std::string& kind : effects.kinds) write(graph, kinds_[kind], index);
}

}  // namespace capstan
