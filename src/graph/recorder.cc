#include "graph/recorder.h"

#include <utility>

#include "capstan/base/error.h"
#include "ops/identity.h"
#include "ops/placeholder.h"
#include "ops/state.h"
#include "tensor/storage.h"

namespace capstan {

bool GraphRecorder::record(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                           std::span<const TensorSpec> specs, std::span<Tensor> outputs) {
  Node node;
  node.op = &op;
  node.type = op.name();
  node.name = op.name();
  node.is_silent = thread_state().paused > 0;
  if (op.attributes) node.attributes = op.attributes().copy(attributes);
  for (const InputRef& input : inputs) node.inputs.push_back(resolve(*input.tensor, op.name()));
  describe_outputs(node, inputs, specs);
  const std::int32_t index = graph_->add(std::move(node));
  if (op.facts.stateful) order_.add(*graph_, index);
  for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k] = graph_->tensor({index, static_cast<std::int32_t>(k)});
  return true;
}

/// A handle that passes through keeps what is known of it.
void GraphRecorder::describe_outputs(Node& node, std::span<const InputRef> inputs, std::span<const TensorSpec> specs) {
  for (std::size_t k = 0; k < specs.size(); ++k) {
    NodeOutput output{specs[k], {}};
    if (specs[k].dtype == DType::resource) {
      if (k < inputs.size() && inputs[k].tensor->dtype() == DType::resource) {
        output.resource = ResourceDescription::of(*resource_of(*inputs[k].tensor));
      } else if (node.op == &var_handle_op) {
        const auto& of = *static_cast<const VarHandleAttributes*>(node.attributes.get());
        output.resource = ResourceHandle(new ResourceDescription(of.shared_name, of.dtype, of.shape, true));
      }
    }
    node.outputs.push_back(std::move(output));
  }
}

Endpoint GraphRecorder::resolve(const Tensor& tensor, std::string_view op) {
  const Endpoint own = graph_->endpoint_of(tensor);
  return own.node >= 0 ? own : capture(tensor, op);
}

const Tensor* GraphRecorder::constant_value(const Tensor& tensor) {
  const Endpoint at = graph_->endpoint_of(tensor);
  return at.node >= 0 ? graph_->constant_value(at) : nullptr;
}

Shape GraphRecorder::constant_shape(const Tensor& sizes) {
  const Endpoint at = graph_->endpoint_of(sizes);
  return at.node >= 0 ? graph_->constant_shape(at) : Shape::unknown();
}

Endpoint GraphRecorder::add_placeholder(const std::string& name, const TensorSpec& spec,
                                        const ResourceHandle& resource) {
  Node node;
  node.op = &placeholder_op;
  node.type = placeholder_op.name();
  node.name = name;
  node.attributes = std::make_shared<PlaceholderAttributes>(PlaceholderAttributes{spec.dtype, spec.shape});
  node.outputs.push_back({spec, resource});
  return {graph_->add(std::move(node)), 0};
}

Endpoint GraphRecorder::add_constant(const Tensor& value) { return {graph_->add(constant_node(value)), 0}; }

}  // namespace capstan
