// The order of side effects. Every effect has a key: the resource that is read or written, or for effects without one
// the kind of op. Within one key readers run together and writers alone, in the order of the program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace capstan {

/// What running a function does to the world around it.
struct FunctionEffects {
  std::vector<bool> writes_input;  // for inputs that are handles: may it change what is behind?
  std::vector<std::string> kinds;  // effects that have no resource, sorted
  bool any() const;
};

/// What one node does: which of its inputs it reads or writes as resources, and effects without one.
struct NodeEffects {
  std::vector<std::size_t> reads, writes;  // positions of inputs
  std::vector<std::string> kinds;
  /// Does the node do something that nobody has to ask for?
  bool must_run() const { return !writes.empty() || !kinds.empty(); }
};
NodeEffects effects_of(const GraphBody& graph, const Node& node);

/// Finds the nodes that a new one has to wait for.
class EffectOrder {
 public:
  /// Adds control inputs to the node, which is the graph's last.
  void add(GraphBody& graph, std::int32_t node);
  /// The output at which a handle begins, behind identities.
  static Endpoint root_of(const GraphBody& graph, Endpoint handle);

 private:
  struct Line {
    std::int32_t writer = -1;
    std::vector<std::int32_t> readers;  // since the last write
  };
  void read(GraphBody& graph, Line& line, std::int32_t node);
  void write(GraphBody& graph, Line& line, std::int32_t node);

  std::map<Endpoint, Line> resources_;
  std::map<std::string, Line> kinds_;
};

}  // namespace capstan
