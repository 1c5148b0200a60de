// A function in the form of a graph: which outputs of which nodes are its inputs and results. It never changes.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graph/effects.h"
#include "graph/graph.h"

namespace capstan {

class Plan;

class GraphFunction {
 public:
  struct Parts {
    std::string name;
    std::shared_ptr<GraphBody> graph;
    std::vector<Endpoint> inputs;  // outputs of placeholders
    std::vector<Endpoint> outputs;
    /// Nodes that run whether or not an output needs them, beside those whose effects demand it.
    std::vector<std::int32_t> targets = {};
  };
  explicit GraphFunction(Parts parts);
  virtual ~GraphFunction();
  GraphFunction(const GraphFunction&) = delete;
  GraphFunction& operator=(const GraphFunction&) = delete;

  const std::string& name() const { return parts_.name; }
  /// The graph is shared with symbolic tensors; nobody changes it.
  const std::shared_ptr<GraphBody>& graph() const { return parts_.graph; }
  const std::vector<Endpoint>& inputs() const { return parts_.inputs; }
  const std::vector<Endpoint>& outputs() const { return parts_.outputs; }
  const std::vector<std::int32_t>& targets() const { return parts_.targets; }
  const NodeOutput& input(std::size_t i) const { return parts_.graph->output(parts_.inputs[i]); }
  const NodeOutput& output(std::size_t i) const { return parts_.graph->output(parts_.outputs[i]); }
  const FunctionEffects& effects() const { return effects_; }
  /// Is there a node that may not be merged or dropped?
  bool is_stateful() const { return is_stateful_; }

  /// Runs it on values, one for each input, without telling observers. Made ready at the first call; any number of
  /// threads may run it at once. Errors of nodes name the node and the function.
  std::vector<Tensor> run(std::span<const Tensor> inputs) const;
  /// The same, taking the inputs over: a kernel may write over those that nobody else holds.
  std::vector<Tensor> run_over(std::vector<Tensor> inputs) const;
  const Plan& plan() const;

 private:
  const Parts parts_;
  FunctionEffects effects_;
  bool is_stateful_ = false;
  mutable std::once_flag is_planned_;
  mutable std::unique_ptr<const Plan> plan_;
};

}  // namespace capstan
