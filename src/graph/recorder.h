// Calls become nodes: the recorder behind traced functions and graph mode.
#pragma once

#include "graph/effects.h"
#include "graph/graph.h"
#include "op/observer.h"

namespace capstan {

/// While it is active, each call on its thread adds a node to the graph. What calls take from outside the graph is
/// captured.
class GraphRecorder : public Recorder {
 public:
  explicit GraphRecorder(std::shared_ptr<GraphBody> graph) : graph_(std::move(graph)) {}

  bool record(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
              std::span<const TensorSpec> specs, std::span<Tensor> outputs) override;
  const Tensor* constant_value(const Tensor& tensor) override;
  bool has_made(const Tensor& tensor) const override { return graph_->endpoint_of(tensor).node >= 0; }
  Shape constant_shape(const Tensor& sizes) override;

  GraphBody& graph() { return *graph_; }
  const std::shared_ptr<GraphBody>& shared_graph() const { return graph_; }
  /// The output for a tensor: of this graph, or captured.
  Endpoint resolve(const Tensor& tensor, std::string_view op);
  /// Adds a node without inputs that stands for a value from outside.
  Endpoint add_placeholder(const std::string& name, const TensorSpec& spec, const ResourceHandle& resource = {});
  Endpoint add_constant(const Tensor& value);

 protected:
  /// The output that stands for a tensor which the graph did not make: one with a value, or symbolic in another graph.
  virtual Endpoint capture(const Tensor& tensor, std::string_view op) = 0;

 private:
  void describe_outputs(Node& node, std::span<const InputRef> inputs, std::span<const TensorSpec> specs);

  const std::shared_ptr<GraphBody> graph_;
  EffectOrder order_;
};

}  // namespace capstan
