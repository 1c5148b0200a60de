#include "checkpoint/object_walk.h"

namespace capstan::checkpoint {
namespace {

constexpr std::string_view kValueSuffix = "/.ATTRIBUTES/VARIABLE_VALUE";
constexpr std::string_view kSlotMark = "/.OPTIMIZER_SLOT/";

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? escape_name(name) : path + "/" + escape_name(name);
}

std::string bare_name(const Variable& variable) {
  const std::string name = variable.name();
  return name.substr(0, name.size() - 2);  // without ":0"
}

/// The root stays where it is: the walk only borrows it.
std::shared_ptr<const TrackableObject> borrowed(const TrackableObject& root) {
  return {std::shared_ptr<const void>(), &root};
}

struct Root {
  std::shared_ptr<const TrackableObject> object;
  std::shared_ptr<const TrackableObject> trackable() const { return object; }
};

}  // namespace

std::string escape_name(const std::string& name) {
  std::string escaped;
  for (char c : name) {
    if (c == '.')
      escaped += "..";
    else if (c == '/')
      escaped += ".S";
    else
      escaped += c;
  }
  return escaped;
}

std::string unescape_name(const std::string& name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_escape = name[i] == '.' && i + 1 < name.size();
    plain += is_escape ? (name[++i] == 'S' ? '/' : name[i]) : name[i];
  }
  return plain;
}

std::string value_key(const std::string& variable_path) { return variable_path + std::string(kValueSuffix); }

std::optional<SlotName> parse_slot_key(const std::string& key) {
  const std::size_t mark = key.find(kSlotMark);
  if (mark == std::string::npos || !key.ends_with(kValueSuffix)) return std::nullopt;
  const std::size_t begin = mark + kSlotMark.size();
  if (key.size() < begin + kValueSuffix.size()) return std::nullopt;
  const std::string rest = key.substr(begin, key.size() - begin - kValueSuffix.size());
  const std::size_t slash = rest.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  return SlotName{key.substr(0, mark), rest.substr(0, slash), unescape_name(rest.substr(slash + 1))};
}

std::string ObjectWalk::slot_key(const std::string& variable_path, const std::string& optimizer_path,
                                 const std::string& slot) {
  return value_key(variable_path + std::string(kSlotMark) + optimizer_path + "/" + escape_name(slot));
}

ObjectWalk::ObjectWalk(const TrackableObject& root) {
  visit(Root{borrowed(root)}, "");
  // The list grows while it is walked: that is the queue of the breadth-first search.
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    const Node node = nodes_[at];
    if (node.object.variable()) {
      add_variable(static_cast<int>(at), *node.object.variable(), node.path);
      continue;
    }
    objects_.push_back({node.object.object(), node.path});
    for (const NamedChild& child : node.object.object()->children()) {
      const int id = visit(child.child, joined(node.path, child.name));
      graph_.nodes[at].children.push_back({id, child.name});
    }
  }
  const std::size_t count = nodes_.size();
  for (std::size_t at = 0; at < count; ++at)
    if (nodes_[at].object.object()) add_slots(static_cast<int>(at));
  for (auto& node : graph_.nodes) node.has_checkpoint_values = !node.attributes.empty() || !node.children.empty();
}

int ObjectWalk::visit(const Trackable& object, const std::string& path) {
  const auto [at, is_new] = node_of_.try_emplace(object.identity(), static_cast<int>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({object, path});
    graph_.nodes.emplace_back();
  }
  return at->second;
}

void ObjectWalk::add_variable(int node, const Variable& variable, const std::string& path) {
  const std::string key = value_key(path);
  variables_.push_back({key, variable});
  graph_.nodes[static_cast<std::size_t>(node)].attributes.push_back({"VARIABLE_VALUE", bare_name(variable), key});
}

void ObjectWalk::add_slots(int optimizer) {
  for (const SlotVariable& slot : nodes_[static_cast<std::size_t>(optimizer)].object.object()->slots()) {
    const auto owner = node_of_.find(Trackable(slot.variable).identity());
    if (owner == node_of_.end()) continue;  // of a variable that is not saved
    const std::string key = slot_key(nodes_[static_cast<std::size_t>(owner->second)].path,
                                     nodes_[static_cast<std::size_t>(optimizer)].path, slot.slot);
    const int id = visit(slot.value, key.substr(0, key.size() - kValueSuffix.size()));
    variables_.push_back({key, slot.value});
    graph_.nodes[static_cast<std::size_t>(id)].attributes.push_back({"VARIABLE_VALUE", bare_name(slot.value), key});
    graph_.nodes[static_cast<std::size_t>(optimizer)].slot_variables.push_back({owner->second, slot.slot, id});
  }
}

}  // namespace capstan::checkpoint
