// The objects below a root in the order of a breadth-first walk, each with the path that reached it first; from this
// come the keys of a checkpoint and its object graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capstan/state/trackable.h"
#include "wire/object_graph.h"

namespace capstan::checkpoint {

/// An edge's name as it stands in keys: "." becomes "..", then "/" becomes ".S".
std::string escape_name(const std::string& name);

std::string unescape_name(const std::string& name);

/// The key of the value of the variable at a path.
std::string value_key(const std::string& variable_path);

struct SlotName {
  std::string variable_path;
  std::string optimizer_path;
  std::string slot;
};
/// What a slot's key consists of; nothing if it is no slot's key.
std::optional<SlotName> parse_slot_key(const std::string& key);

struct WalkedVariable {
  std::string key;
  Variable variable;
};

class ObjectWalk {
 public:
  explicit ObjectWalk(const TrackableObject& root);

  /// Variables in the order of saving, slots last.
  const std::vector<WalkedVariable>& variables() const { return variables_; }
  const wire::TrackableObjectGraph& graph() const { return graph_; }

  struct WalkedObject {
    const TrackableObject* object;
    std::string path;
  };
  const std::vector<WalkedObject>& objects() const { return objects_; }
  /// The key of a slot, whether it exists or not.
  static std::string slot_key(const std::string& variable_path, const std::string& optimizer_path,
                              const std::string& slot);

 private:
  struct Node {
    Trackable object;
    std::string path;
  };
  int visit(const Trackable& object, const std::string& path);
  void add_variable(int node, const Variable& variable, const std::string& path);
  void add_slots(int optimizer);

  std::vector<Node> nodes_;
  std::map<const void*, int> node_of_;
  std::vector<WalkedVariable> variables_;
  std::vector<WalkedObject> objects_;
  wire::TrackableObjectGraph graph_;
};

}  // namespace capstan::checkpoint
