// A finished graph told to a tape or an accumulator, node by node, as if it were just being recorded.
#pragma once

#include <vector>

#include "function/traced_function.h"

namespace capstan {

class GraphFeed {
 public:
  /// Nodes on which `targets` depend.
  GraphFeed(const TracedFunction& function, std::span<const Endpoint> targets);

  /// The tensor that stands for an output in what the listener is told.
  const Tensor& tensor(Endpoint at);

  /// Calls on_call(OpCall) for nodes and on_operation(RecordedOperation) for operations with functions of their own.
  template <class OnCall, class OnOperation>
  void tell(OnCall&& on_call, OnOperation&& on_operation) {
    auto noted = function_.noted().begin();
    for (std::int32_t i = 0; i <= function_.graph()->size(); ++i) {
      for (; noted != function_.noted().end() && noted->position <= i; ++noted)
        if (is_needed(*noted)) on_operation(canonical(*noted).as_recorded());
      if (i < function_.graph()->size() && is_needed_[static_cast<std::size_t>(i)]) tell_node(i, on_call);
    }
  }

 private:
  template <class OnCall>
  void tell_node(std::int32_t index, OnCall&& on_call) {
    const Node& node = function_.graph()->node(index);
    if (!node.op || node.is_silent || node.inputs.empty()) return;
    std::vector<InputRef> inputs;
    for (const Endpoint& input : node.inputs) tensor(input);
    for (const Endpoint& input : node.inputs) inputs.emplace_back(tensor(input));
    std::vector<Tensor> outputs;
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(node.outputs.size()); ++k)
      outputs.push_back(tensor({index, k}));
    on_call(OpCall(*node.op, node.attributes.get(), inputs, outputs));
  }

  bool is_needed(const NotedOperation& noted) const;
  NotedOperation canonical(const NotedOperation& noted);

  const TracedFunction& function_;
  std::vector<bool> is_needed_;
  std::vector<std::vector<Tensor>> tensors_;  // node, output
};

}  // namespace capstan
