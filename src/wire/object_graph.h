// The message that says which objects a checkpoint was made of; it stands in the checkpoint as a string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::wire {

struct TrackableObjectGraph {
  struct ObjectReference {
    std::int32_t node_id = 0;
    std::string local_name;
  };
  struct SerializedTensor {
    std::string name;
    std::string full_name;
    std::string checkpoint_key;
  };
  struct SlotVariableReference {
    std::int32_t original_variable_node_id = 0;
    std::string slot_name;
    std::int32_t slot_variable_node_id = 0;
  };
  struct RegisteredSaver {
    std::string name;
    std::string object_name;
  };
  struct TrackableObject {
    std::vector<ObjectReference> children;
    std::vector<SerializedTensor> attributes;
    std::vector<SlotVariableReference> slot_variables;
    std::optional<RegisteredSaver> registered_saver;
    std::optional<bool> has_checkpoint_values;  // old files do not say
  };
  std::vector<TrackableObject> nodes;  // the first is the root; references are places in this list
};

std::string encode(const TrackableObjectGraph& message);
/// Throws DataLoss for anything that is not such a message. References are not checked.
TrackableObjectGraph decode_object_graph(std::string_view bytes);

}  // namespace capstan::wire
