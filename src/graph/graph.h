// Graphs: nodes in the order in which they were made, with data edges and control edges. A graph grows while a function
// is traced and never changes afterwards; passes make new ones.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "capstan/op/op.h"
#include "tensor/symbolic.h"

namespace capstan {

/// An output of a node.
struct Endpoint {
  std::int32_t node = -1;
  std::int32_t output = 0;

  auto operator<=>(const Endpoint&) const = default;
};

/// What is known of one output.
struct NodeOutput {
  TensorSpec spec;
  ResourceHandle resource;  // for handles: a description of what is behind
  /// The value that is the same in every run, if it was looked for and found.
  Tensor constant = {};
  bool is_constant_known = false;  // it was looked for
};

struct Node {
  std::string name;
  std::string type;                        // the op's name, also of an op that nobody knows here
  const OpDef* op = nullptr;               // null if it is not known
  std::shared_ptr<const void> attributes;  // the op's struct; null for an op without
  AttributeMap unknown_attributes;         // those that the record does not list, kept for files
  std::string device;
  SmallVector<Endpoint, 3> inputs;
  std::vector<std::int32_t> control_inputs;
  SmallVector<NodeOutput, 1> outputs;
  /// Names of the nodes from which a pass made this one.
  std::vector<std::string> origins;
  /// Made while recording was paused: no gradient passes.
  bool is_silent = false;

  /// An attribute of the record or an unknown one; nothing (std::monostate) if the node has none of that name.
  AttributeValue attribute(std::string_view name) const;
};

/// A node that gives a constant.
Node constant_node(const Tensor& value);

class GraphBody : public std::enable_shared_from_this<GraphBody> {
 public:
  explicit GraphBody(std::string name) : name_(std::move(name)) {}

  /// The function or graph, for messages.
  const std::string& name() const { return name_; }
  std::int32_t size() const { return size_; }
  const Node& node(std::int32_t index) const { return chunks_[chunk_of(index)][place_in_chunk(index)]; }
  Node& mutable_node(std::int32_t index) { return chunks_[chunk_of(index)][place_in_chunk(index)]; }
  const NodeOutput& output(Endpoint at) const { return node(at.node).outputs[static_cast<std::size_t>(at.output)]; }

  /// The same nodes under the same numbers.
  std::shared_ptr<GraphBody> copy() const;
  /// Adds a node; its name gets a number if it is taken: "add", "add_1". Returns its index.
  std::int32_t add(Node node);
  /// The same for a node whose name is known to be free, and looked up by nobody: for passes.
  std::int32_t add_unchecked(Node node);
  /// A name that no node has, in TensorFlow's way.
  std::string unique_name(const std::string& wanted);
  std::int32_t find(std::string_view name) const;  // -1 if there is no such node

  /// A symbolic tensor that stands for an output.
  Tensor tensor(Endpoint at);
  /// The output that a tensor of this graph stands for; node -1 for other tensors.
  Endpoint endpoint_of(const Tensor& tensor) const;

  /// The value of an output that is the same in every run, null if it is not known. Looked for once.
  const Tensor* constant_value(Endpoint at);
  /// What is known of the sizes in a vector that stands for a shape.
  Shape constant_shape(Endpoint sizes);

 private:
  Tensor evaluate(Endpoint at, int depth);
  const Tensor* constant_value(Endpoint at, int depth);

  // Nodes are large: they stay where they are when the graph grows.
  static constexpr std::size_t kChunk = 64;
  static std::size_t chunk_of(std::int32_t index) { return static_cast<std::size_t>(index) / kChunk; }
  static std::size_t place_in_chunk(std::int32_t index) { return static_cast<std::size_t>(index) % kChunk; }

  const std::string name_;
  std::vector<std::unique_ptr<Node[]>> chunks_;
  std::int32_t size_ = 0;
  std::unordered_map<std::string, int> names_;  // how often a name was asked for
  std::mutex constants_mutex_;
};

/// The graph that made a symbolic tensor and the output it stands for; null and node -1 for other tensors.
struct GraphPlace {
  const GraphBody* graph = nullptr;
  Endpoint at;
};
GraphPlace place_of(const Tensor& tensor);

/// "'node:0' of 'step'".
std::string describe(const GraphBody& graph, Endpoint at);

/// A list that a person can read: one node per line with its inputs, attributes and outputs.
std::string to_text(const GraphBody& graph);
/// The same for Graphviz.
std::string to_dot(const GraphBody& graph);

/// Throws Internal naming the node that breaks a law: inputs and control inputs exist and, but for those of
/// NextIteration, stand before the node; known ops have the number of inputs and outputs that their record says; names
/// are there and differ.
void verify(const GraphBody& graph);

}  // namespace capstan
