#include "graph/passes.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "ops/identity.h"

namespace capstan {
namespace {

/// Copies a graph node by node; a pass says what becomes of each.
class Rewrite {
 public:
  explicit Rewrite(const GraphFunction::Parts& parts)
      : from_(*parts.graph),
        parts_(parts),
        to_(std::make_shared<GraphBody>(from_.name())),
        place_(static_cast<std::size_t>(from_.size()), -1) {}

  const GraphBody& from() const { return from_; }
  GraphBody& graph() { return *parts_.graph; }
  GraphBody& to() { return *to_; }
  bool has(std::int32_t node) const { return place_[static_cast<std::size_t>(node)] >= 0; }

  /// The node with its inputs in the new graph; control inputs that are gone are left out.
  Node moved(std::int32_t index) const {
    Node node = from_.node(index);
    for (Endpoint& input : node.inputs) input = moved(input);
    std::erase_if(node.control_inputs, [&](std::int32_t before) { return !has(before); });
    for (std::int32_t& before : node.control_inputs) before = place_[static_cast<std::size_t>(before)];
    return node;
  }
  void add(std::int32_t index, Node node) {
    place_[static_cast<std::size_t>(index)] = to_->add_unchecked(std::move(node));
  }
  void keep(std::int32_t index) { add(index, moved(index)); }
  /// The node's outputs are those of a node that the new graph has.
  void merge(std::int32_t index, std::int32_t with) {
    to_->mutable_node(with).origins.push_back(from_.node(index).name);
    place_[static_cast<std::size_t>(index)] = with;
  }

  GraphFunction::Parts finish() {
    GraphFunction::Parts result{parts_.name, to_, {}, {}, {}};
    for (const Endpoint& input : parts_.inputs) result.inputs.push_back(moved(input));
    for (const Endpoint& output : parts_.outputs) result.outputs.push_back(moved(output));
    for (const std::int32_t target : parts_.targets)
      if (has(target)) result.targets.push_back(place_[static_cast<std::size_t>(target)]);
#ifndef NDEBUG
    verify(*to_);
#endif
    return result;
  }

 private:
  Endpoint moved(Endpoint at) const { return {place_[static_cast<std::size_t>(at.node)], at.output}; }

  const GraphBody& from_;
  const GraphFunction::Parts& parts_;
  const std::shared_ptr<GraphBody> to_;
  std::vector<std::int32_t> place_;
};

/// Nodes stand in an order in which each follows what it needs, so one look from the end finds all.
std::vector<bool> needed_nodes(const GraphFunction::Parts& parts) {
  const GraphBody& graph = *parts.graph;
  std::vector<bool> is_needed(static_cast<std::size_t>(graph.size()));
  const auto need = [&](std::int32_t node) { is_needed[static_cast<std::size_t>(node)] = true; };
  for (const Endpoint& input : parts.inputs) need(input.node);
  for (const Endpoint& output : parts.outputs) need(output.node);
  for (const std::int32_t target : parts.targets) need(target);
  for (std::int32_t i = graph.size(); i-- > 0;) {
    if (!is_needed[static_cast<std::size_t>(i)]) continue;
    for (const Endpoint& input : graph.node(i).inputs) need(input.node);
    for (const std::int32_t before : graph.node(i).control_inputs) {
      const OpDef* op = graph.node(before).op;
      if (!op || !op->facts.reads_only) need(before);  // what nobody looks at need not be read
    }
  }
  return is_needed;
}

/// The inputs of a node; those of commutative ops in a fixed order.
SmallVector<Endpoint, 3> ordered_inputs(const Node& node) {
  SmallVector<Endpoint, 3> inputs = node.inputs;
  if (node.op->facts.commutative && inputs.size() >= 2 && inputs[1] < inputs[0]) std::swap(inputs[0], inputs[1]);
  return inputs;
}

/// Equal for nodes that compute the same from the same inputs; attributes are compared one by one.
std::size_t likeness(const Node& node) {
  std::size_t hash = reinterpret_cast<std::uintptr_t>(node.op) >> 4;
  for (const Endpoint& input : ordered_inputs(node))
    hash =
        hash * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(input.node) * 8 + static_cast<std::size_t>(input.output);
  return hash;
}

bool have_equal_inputs(const Node& a, const Node& b) {
  return a.op == b.op && std::ranges::equal(ordered_inputs(a), ordered_inputs(b)) &&
         a.control_inputs == b.control_inputs;
}

bool have_equal_attributes(const Node& a, const Node& b) {
  if (a.unknown_attributes.size() || b.unknown_attributes.size()) return false;
  return !a.op->attributes || a.op->attributes().equal(a.attributes.get(), b.attributes.get());
}

bool fold(Rewrite& rewrite, std::int32_t index) {
  const Node& node = rewrite.from().node(index);
  if (node.op == &const_op || node.outputs.size() != 1 || !node.control_inputs.empty()) return false;
  const Tensor* value = rewrite.graph().constant_value({index, 0});
  if (!value) return false;
  Node constant = constant_node(*value);
  constant.name = node.name;
  constant.device = node.device;
  constant.origins = {node.name};
  rewrite.add(index, std::move(constant));
  return true;
}

/// Merges nodes with equal ones before them.
class Merger {
 public:
  explicit Merger(Rewrite& rewrite) : rewrite_(rewrite) {}

  bool merge(std::int32_t index) {
    Node node = rewrite_.moved(index);
    if (!node.op || node.op->facts.stateful || (node.inputs.empty() && node.op != &const_op)) return false;
    auto& alike = known_[likeness(node)];
    const auto same = std::ranges::find_if(alike, [&](std::int32_t at) {
      const Node& other = rewrite_.to().node(at);
      return have_equal_inputs(node, other) && have_equal_attributes(node, other);
    });
    if (same != alike.end()) {
      rewrite_.merge(index, *same);
    } else {
      rewrite_.add(index, std::move(node));
      alike.push_back(rewrite_.to().size() - 1);
    }
    return true;
  }

 private:
  Rewrite& rewrite_;
  std::unordered_map<std::size_t, SmallVector<std::int32_t, 2>> known_;
};

}  // namespace

GraphFunction::Parts prune(const GraphFunction::Parts& parts) {
  const auto is_needed = needed_nodes(parts);
  Rewrite rewrite(parts);
  for (std::int32_t i = 0; i < parts.graph->size(); ++i)
    if (is_needed[static_cast<std::size_t>(i)]) rewrite.keep(i);
  return rewrite.finish();
}

GraphFunction::Parts fold_constants(const GraphFunction::Parts& parts) {
  Rewrite rewrite(parts);
  for (std::int32_t i = 0; i < parts.graph->size(); ++i)
    if (!fold(rewrite, i)) rewrite.keep(i);
  return rewrite.finish();
}

GraphFunction::Parts merge_common_subexpressions(const GraphFunction::Parts& parts) {
  Rewrite rewrite(parts);
  Merger merger(rewrite);
  for (std::int32_t i = 0; i < parts.graph->size(); ++i)
    if (!merger.merge(i)) rewrite.keep(i);
  return rewrite.finish();
}

GraphFunction::Parts simplified(const GraphFunction::Parts& parts) {
  const auto is_needed = needed_nodes(parts);
  Rewrite rewrite(parts);
  Merger merger(rewrite);
  for (std::int32_t i = 0; i < parts.graph->size(); ++i)
    if (is_needed[static_cast<std::size_t>(i)] && !fold(rewrite, i) && !merger.merge(i)) rewrite.keep(i);
  return rewrite.finish();
}

}  // namespace capstan
