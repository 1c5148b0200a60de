// Graphs for people: text and Graphviz.
#include <algorithm>
#include <sstream>

#include "graph/graph.h"

namespace capstan {
namespace {

constexpr std::size_t kMostValueText = 60;

std::string shortened(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text.size() > kMostValueText ? text.substr(0, kMostValueText) + "..." : text;
}

std::string input_text(const GraphBody& graph, Endpoint at) {
  const std::string& name = graph.node(at.node).name;
  return at.output ? name + ":" + std::to_string(at.output) : name;
}

AttributeMap attributes_of(const Node& node) {
  AttributeMap all = node.unknown_attributes;
  if (node.op && node.op->attributes && node.attributes)
    for (auto& [name, value] : node.op->attributes().to_map(node.attributes.get())) all.emplace(name, value);
  return all;
}

std::string attributes_text(const Node& node) {
  std::string text;
  for (const auto& [name, value] : attributes_of(node))
    text += (text.empty() ? " {" : ", ") + name + "=" + shortened(to_string(value));
  return text.empty() ? text : text + "}";
}

std::string outputs_text(const Node& node) {
  std::string text;
  for (const NodeOutput& output : node.outputs)
    text += (text.empty() ? " -> " : ", ") + std::string(dtype_name(output.spec.dtype)) + output.spec.shape.to_string();
  return text;
}

void write_node(std::ostream& out, const GraphBody& graph, const Node& node) {
  out << node.name << " = " << node.type << '(';
  for (std::size_t i = 0; i < node.inputs.size(); ++i) out << (i ? ", " : "") << input_text(graph, node.inputs[i]);
  for (std::size_t i = 0; i < node.control_inputs.size(); ++i)
    out << (i || !node.inputs.empty() ? ", " : "") << '^' << graph.node(node.control_inputs[i]).name;
  out << ')' << attributes_text(node);
  if (!node.device.empty()) out << " @" << node.device;
  out << outputs_text(node) << '\n';
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result + '"';
}

}  // namespace

std::string to_text(const GraphBody& graph) {
  std::ostringstream out;
  for (std::int32_t i = 0; i < graph.size(); ++i) write_node(out, graph, graph.node(i));
  return out.str();
}

std::string to_dot(const GraphBody& graph) {
  std::ostringstream out;
  out << "digraph " << quoted(graph.name()) << " {\n";
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    out << "  n" << i << " [label=" << quoted(node.name + "\\n" + node.type) << "];\n";
    for (const Endpoint& input : node.inputs) out << "  n" << input.node << " -> n" << i << ";\n";
    for (const std::int32_t before : node.control_inputs)
      out << "  n" << before << " -> n" << i << " [style=dashed];\n";
  }
  out << "}\n";
  return out.str();
}

}  // namespace capstan
