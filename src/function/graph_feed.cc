#include "function/graph_feed.h"

#include <algorithm>

#include "tensor/storage.h"

namespace capstan {

GraphFeed::GraphFeed(const TracedFunction& function, std::span<const Endpoint> targets) : function_(function) {
  const GraphBody& graph = *function.graph();
  is_needed_.resize(static_cast<std::size_t>(graph.size()));
  tensors_.resize(is_needed_.size());
  const auto need = [&](std::int32_t node) { is_needed_[static_cast<std::size_t>(node)] = true; };
  for (const Endpoint& target : targets) need(target.node);
  auto noted = function.noted().rbegin();
  for (std::int32_t i = graph.size(); i-- > 0;) {
    for (; noted != function.noted().rend() && noted->position > i; ++noted) {
      if (!is_needed(*noted)) continue;
      for (const Tensor& input : noted->inputs)
        if (const Endpoint at = place_of(input).at; at.node >= 0) need(at.node);
    }
    if (!is_needed_[static_cast<std::size_t>(i)]) continue;
    for (const Endpoint& input : graph.node(i).inputs) need(input.node);
  }
}

bool GraphFeed::is_needed(const NotedOperation& noted) const {
  return std::ranges::any_of(noted.outputs, [&](const Tensor& output) {
    const std::int32_t node = place_of(output).at.node;
    return node >= 0 && is_needed_[static_cast<std::size_t>(node)];
  });
}

const Tensor& GraphFeed::tensor(Endpoint at) {
  auto& of_node = tensors_[static_cast<std::size_t>(at.node)];
  if (of_node.empty()) {
    // Constants are handed over as values: gradient functions look at axes and sizes.
    const auto count = static_cast<std::int32_t>(function_.graph()->node(at.node).outputs.size());
    for (std::int32_t k = 0; k < count; ++k) {
      const Tensor* value = function_.graph()->constant_value({at.node, k});
      of_node.push_back(value ? share_elements(*value, value->shape()) : function_.graph()->tensor({at.node, k}));
    }
  }
  return of_node[static_cast<std::size_t>(at.output)];
}

NotedOperation GraphFeed::canonical(const NotedOperation& noted) {
  NotedOperation same = noted;
  for (auto* list : {&same.inputs, &same.outputs})
    for (Tensor& each : *list)
      if (const Endpoint at = place_of(each).at; at.node >= 0) each = tensor(at);
  return same;
}

}  // namespace capstan
