#include "wire/object_graph.h"

#include "wire/message.h"

namespace capstan::wire {
namespace {

using Graph = TrackableObjectGraph;

Graph::ObjectReference decode_reference(std::string_view message) {
  Graph::ObjectReference reference;
  read_fields(message, "TrackableObjectGraph.ObjectReference", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        reference.node_id = field.get_int32();
        break;
      case bytes(2):
        reference.local_name = text(field);
        break;
      default:
        field.skip();
    }
  });
  return reference;
}

Graph::SerializedTensor decode_attribute(std::string_view message) {
  Graph::SerializedTensor attribute;
  read_fields(message, "TrackableObjectGraph.SerializedTensor", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case bytes(1):
        attribute.name = text(field);
        break;
      case bytes(2):
        attribute.full_name = text(field);
        break;
      case bytes(3):
        attribute.checkpoint_key = text(field);
        break;
      default:
        field.skip();
    }
  });
  return attribute;
}

Graph::SlotVariableReference decode_slot(std::string_view message) {
  Graph::SlotVariableReference slot;
  read_fields(message, "TrackableObjectGraph.SlotVariableReference", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        slot.original_variable_node_id = field.get_int32();
        break;
      case bytes(2):
        slot.slot_name = text(field);
        break;
      case varint(3):
        slot.slot_variable_node_id = field.get_int32();
        break;
      default:
        field.skip();
    }
  });
  return slot;
}

Graph::RegisteredSaver decode_saver(std::string_view message) {
  Graph::RegisteredSaver saver;
  read_fields(message, "RegisteredSaver", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case bytes(1):
        saver.name = text(field);
        break;
      case bytes(2):
        saver.object_name = text(field);
        break;
      default:
        field.skip();
    }
  });
  return saver;
}

bool decode_bool_value(std::string_view message) {
  bool value = false;
  read_fields(message, "BoolValue", [&](pbf_reader& field) {
    if (field.tag_and_type() == varint(1))
      value = field.get_bool();
    else
      field.skip();
  });
  return value;
}

Graph::TrackableObject decode_object(std::string_view message) {
  Graph::TrackableObject object;
  read_fields(message, "TrackableObjectGraph.TrackableObject", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case bytes(1):
        object.children.push_back(decode_reference(view(field)));
        break;
      case bytes(2):
        object.attributes.push_back(decode_attribute(view(field)));
        break;
      case bytes(3):
        object.slot_variables.push_back(decode_slot(view(field)));
        break;
      case bytes(4):
        object.registered_saver = decode_saver(view(field));
        break;
      case bytes(5):
        object.has_checkpoint_values = decode_bool_value(view(field));
        break;
      default:
        field.skip();
    }
  });
  return object;
}

std::string encode(const Graph::ObjectReference& reference) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, reference.node_id);
  put(writer, 2, reference.local_name);
  return out;
}

std::string encode(const Graph::SerializedTensor& attribute) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, attribute.name);
  put(writer, 2, attribute.full_name);
  put(writer, 3, attribute.checkpoint_key);
  return out;
}

std::string encode(const Graph::SlotVariableReference& slot) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, slot.original_variable_node_id);
  put(writer, 2, slot.slot_name);
  put(writer, 3, slot.slot_variable_node_id);
  return out;
}

std::string encode(const Graph::RegisteredSaver& saver) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, saver.name);
  put(writer, 2, saver.object_name);
  return out;
}

std::string encode_bool_value(bool value) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, value);
  return out;
}

std::string encode(const Graph::TrackableObject& object) {
  std::string out;
  pbf_writer writer(out);
  for (const auto& child : object.children) writer.add_message(1, encode(child));
  for (const auto& attribute : object.attributes) writer.add_message(2, encode(attribute));
  for (const auto& slot : object.slot_variables) writer.add_message(3, encode(slot));
  if (object.registered_saver) writer.add_message(4, encode(*object.registered_saver));
  if (object.has_checkpoint_values) writer.add_message(5, encode_bool_value(*object.has_checkpoint_values));
  return out;
}

}  // namespace

std::string encode(const TrackableObjectGraph& message) {
  std::string out;
  pbf_writer writer(out);
  for (const auto& node : message.nodes) writer.add_message(1, encode(node));
  return out;
}

TrackableObjectGraph decode_object_graph(std::string_view message) {
  TrackableObjectGraph graph;
  read_fields(message, "TrackableObjectGraph", [&](pbf_reader& field) {
    if (field.tag_and_type() == bytes(1))
      graph.nodes.push_back(decode_object(view(field)));
    else
      field.skip();
  });
  return graph;
}

}  // namespace capstan::wire
