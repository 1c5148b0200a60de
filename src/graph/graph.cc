#include "graph/graph.h"

#include <utility>

#include "capstan/base/error.h"
#include "ops/identity.h"

namespace capstan {
namespace {

/// The origin of a symbolic tensor that stands for a node's output; keeps the graph alive.
class NodeOrigin final : public SymbolicOrigin {
 public:
  NodeOrigin(std::shared_ptr<const GraphBody> graph, Endpoint at)
      : SymbolicOrigin(graph.get()), graph_(std::move(graph)), at_(at) {}

  std::string description() const override { return "the output " + describe(*graph_, at_); }
  Endpoint at() const { return at_; }

 private:
  const std::shared_ptr<const GraphBody> graph_;
  const Endpoint at_;
};

}  // namespace

Node constant_node(const Tensor& value) {
  Node node;
  node.op = &const_op;
  node.type = node.name = const_op.name();
  node.attributes = std::make_shared<ConstAttributes>(ConstAttributes{value, value.dtype()});
  node.outputs.push_back({{value.dtype(), value.shape()}, {}});
  return node;
}

AttributeValue Node::attribute(std::string_view wanted) const {
  if (op && op->attributes)
    if (const AttributeField* field = op->attributes().find(wanted)) return field->get(attributes.get(), field->offset);
  const auto found = unknown_attributes.find(wanted);
  return found == unknown_attributes.end() ? AttributeValue() : found->second;
}

std::shared_ptr<GraphBody> GraphBody::copy() const {
  auto same = std::make_shared<GraphBody>(name_);
  for (std::int32_t i = 0; i < size(); ++i) same->add_unchecked(node(i));
  same->names_ = names_;
  return same;
}

std::string GraphBody::unique_name(const std::string& wanted) {
  int& uses = names_[wanted];
  if (uses++ == 0) return wanted;
  for (;; ++uses) {
    std::string numbered = wanted + "_" + std::to_string(uses - 1);
    if (names_.emplace(numbered, 1).second) return numbered;
  }
}

std::int32_t GraphBody::add(Node node) {
  node.name = unique_name(node.name);
  return add_unchecked(std::move(node));
}

std::int32_t GraphBody::add_unchecked(Node node) {
  if (place_in_chunk(size_) == 0) chunks_.push_back(std::make_unique<Node[]>(kChunk));
  mutable_node(size_) = std::move(node);
  return size_++;
}

std::int32_t GraphBody::find(std::string_view name) const {
  for (std::int32_t i = 0; i < size(); ++i)
    if (node(i).name == name) return i;
  return -1;
}

Tensor GraphBody::tensor(Endpoint at) {
  const NodeOutput& made = output(at);
  auto* origin = new NodeOrigin(shared_from_this(), at);
  if (made.resource.get()) origin->set_resource(made.resource);
  return new_symbolic_tensor(made.spec.dtype, made.spec.shape, origin);
}

Endpoint GraphBody::endpoint_of(const Tensor& tensor) const {
  const SymbolicOrigin* origin = origin_of(tensor);
  return origin && origin->maker() == this ? static_cast<const NodeOrigin*>(origin)->at() : Endpoint{};
}

GraphPlace place_of(const Tensor& tensor) {
  const auto* origin = dynamic_cast<const NodeOrigin*>(origin_of(tensor));
  return origin ? GraphPlace{static_cast<const GraphBody*>(origin->maker()), origin->at()} : GraphPlace{};
}

std::string describe(const GraphBody& graph, Endpoint at) {
  return "'" + graph.node(at.node).name + ":" + std::to_string(at.output) + "' of '" + graph.name() + "'";
}

void verify(const GraphBody& graph) {
  const auto fail = [&](std::int32_t at, const std::string& what) {
    throw Internal("graph '" + graph.name() + "': node '" + graph.node(at).name + "' (" + graph.node(at).type + ") " +
                   what);
  };
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    if (node.name.empty()) fail(i, "has no name");
    const bool may_look_ahead = node.type == "Merge" || node.type == "RefMerge";
    for (const Endpoint& input : node.inputs) {
      if (input.node < 0 || input.node >= graph.size()) fail(i, "has an input that does not exist");
      if (input.node >= i && !may_look_ahead) fail(i, "takes '" + graph.node(input.node).name + "', which follows it");
      const auto outputs = static_cast<std::int32_t>(graph.node(input.node).outputs.size());
      if (input.output < 0 || input.output >= outputs)
        fail(i, "takes output " + std::to_string(input.output) + " of '" + graph.node(input.node).name +
                    "', which has " + std::to_string(outputs));
    }
    for (std::int32_t before : node.control_inputs)
      if (before < 0 || before >= i) fail(i, "has a control input that does not exist or follows it");
    if (node.op && node.op->attributes && !node.attributes) fail(i, "lacks its attributes");
  }
}

}  // namespace capstan
