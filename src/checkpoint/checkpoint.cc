#include "capstan/checkpoint/checkpoint.h"

#include <filesystem>
#include <map>
#include <set>

#include "capstan/base/error.h"
#include "capstan/checkpoint/state.h"
#include "checkpoint/bundle.h"
#include "checkpoint/object_walk.h"
#include "op/observer.h"

namespace capstan {
namespace {

constexpr const char* kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

void check_names(std::initializer_list<NamedChild> objects) {
  std::set<std::string> names{"save_counter"};
  for (const NamedChild& each : objects) {
    if (each.name.empty()) throw InvalidArgument("Checkpoint: an object's name is empty");
    if (!names.insert(each.name).second)
      throw InvalidArgument("Checkpoint: the name '" + each.name + "' is taken twice");
  }
}

std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Looks at the object graph that the file has, if any: one that cannot be understood is damage, though keys alone say
/// what belongs where.
void check_graph(const checkpoint::BundleReader& reader) {
  if (!reader.contains(kObjectGraphKey)) return;
  const std::string where = reader.prefix() + ", key " + kObjectGraphKey;
  const Tensor text = reader.read(kObjectGraphKey);
  if (text.dtype() != DType::string || text.size() != 1)
    throw DataLoss(where + ": the object graph must be one string, got " + std::string(dtype_name(text.dtype())) + " " +
                   text.shape().to_string());
  wire::TrackableObjectGraph graph;
  try {
    graph = wire::decode_object_graph(text.values<std::string>()[0]);
  } catch (Error& error) {
    error.add_context(where);
    throw;
  }
  const auto check = [&](std::int32_t id) {
    if (id < 0 || static_cast<std::size_t>(id) >= graph.nodes.size())
      throw DataLoss(where + ": the object graph refers to object " + std::to_string(id) + ", but has " +
                     std::to_string(graph.nodes.size()));
  };
  for (const auto& node : graph.nodes) {
    for (const auto& child : node.children) check(child.node_id);
    for (const auto& slot : node.slot_variables) {
      check(slot.original_variable_node_id);
      check(slot.slot_variable_node_id);
    }
  }
}

/// What a value has to fit.
struct Place {
  std::string key;
  std::string name;
  DType dtype;
  Shape shape;
};

/// A value from the file, checked.
Tensor value_for(const checkpoint::BundleReader& reader, const Place& place) {
  const auto [dtype, shape] = reader.entry(place.key);
  const std::string where = "Checkpoint.restore: " + reader.prefix() + ", key " + place.key + ": the file holds ";
  if (dtype != place.dtype)
    throw InvalidArgument(where + "type " + std::string(dtype_name(dtype)) + ", variable '" + place.name + "' has " +
                          std::string(dtype_name(place.dtype)));
  if (!place.shape.is_compatible_with(shape))
    throw InvalidArgument(where + "shape " + shape.to_string() + ", variable '" + place.name + "' has " +
                          place.shape.to_string());
  return reader.read(place.key);
}

/// A slot that the file has and an optimizer keeps, but has not made yet.
struct SavedSlot {
  const TrackableObject* optimizer;
  Variable variable;
  std::string slot;
  Place place;
};

std::vector<SavedSlot> slots_to_make(const checkpoint::BundleReader& reader, const checkpoint::ObjectWalk& walk) {
  std::map<std::string, const TrackableObject*> optimizers;
  std::map<std::string, Variable> variables;
  for (const auto& [object, path] : walk.objects()) optimizers.emplace(path, object);
  for (const auto& [key, variable] : walk.variables()) variables.emplace(key, variable);
  std::vector<SavedSlot> slots;
  for (const std::string& key : reader.keys()) {
    const auto name = checkpoint::parse_slot_key(key);
    if (!name || variables.contains(key)) continue;
    const auto optimizer = optimizers.find(name->optimizer_path);
    const auto variable = variables.find(checkpoint::value_key(name->variable_path));
    if (optimizer == optimizers.end() || variable == variables.end()) continue;
    if (!optimizer->second->keeps_slot(name->slot)) continue;
    const Variable& owner = variable->second;
    slots.push_back({optimizer->second,
                     owner,
                     name->slot,
                     {key, owner.name() + ", slot " + name->slot, owner.dtype(), owner.value().shape()}});
  }
  return slots;
}

}  // namespace

const RestoreReport& RestoreReport::assert_existing_objects_matched() const {
  if (!missing_variables.empty()) throw NotFound("the checkpoint has no value for: " + list_text(missing_variables));
  return *this;
}

const RestoreReport& RestoreReport::assert_consumed() const {
  assert_existing_objects_matched();
  if (!unused_keys.empty()) throw NotFound("no object took from the checkpoint: " + list_text(unused_keys));
  return *this;
}

Checkpoint::Checkpoint(std::initializer_list<NamedChild> objects)
    : save_counter_(constant(std::int64_t{0}), {.name = "save_counter", .trainable = false}) {
  check_names(objects);
  std::vector<NamedChild> children(objects);
  children.push_back({"save_counter", save_counter_});
  root_ = std::make_shared<detail::ListedChildren>(std::move(children));
}

void Checkpoint::write(const std::string& prefix) const {
  const PauseObservers silent;
  const checkpoint::ObjectWalk walk(*root_);
  checkpoint::BundleWriter writer(prefix);
  for (const auto& [key, variable] : walk.variables()) writer.add(key, variable.value());
  writer.add(kObjectGraphKey, constant(wire::encode(walk.graph())));
  writer.finish();
}

std::string Checkpoint::save(const std::string& prefix) const {
  save_counter_.assign_add(std::int64_t{1});
  const std::string path = prefix + "-" + std::to_string(save_counter_.value().item<std::int64_t>());
  try {
    write(path);
  } catch (...) {
    save_counter_.assign_sub(std::int64_t{1});
    throw;
  }
  std::string directory = std::filesystem::path(prefix).parent_path().string();
  if (directory.empty()) directory = ".";
  // What the list said before is not read: as in TensorFlow, this saver lists its latest checkpoint only, and a list
  // that is damaged must not keep anybody from saving.
  checkpoint::write_state(directory, {.latest = path, .all = {path}, .timestamps = {}, .last_preserved = {}},
                          "checkpoint", checkpoint::StatePaths::relative);
  return path;
}

RestoreReport Checkpoint::restore(const std::string& prefix) const {
  const PauseObservers silent;
  const checkpoint::BundleReader reader(prefix);
  check_graph(reader);
  const checkpoint::ObjectWalk before(*root_);
  std::map<std::string, Tensor> values;
  for (const auto& [key, variable] : before.variables())
    if (reader.contains(key))
      values.emplace(key, value_for(reader, {key, variable.name(), variable.dtype(), variable.shape()}));
  const std::vector<SavedSlot> slots = slots_to_make(reader, before);
  for (const SavedSlot& slot : slots) values.emplace(slot.place.key, value_for(reader, slot.place));

  // Everything is read and fits; only now something changes.
  for (const SavedSlot& slot : slots) slot.optimizer->create_slot(slot.variable, slot.slot);
  RestoreReport report;
  const checkpoint::ObjectWalk now(*root_);
  for (const auto& [key, variable] : now.variables()) {
    if (const auto value = values.find(key); value != values.end())
      variable.assign(value->second);
    else
      report.missing_variables.push_back(key);
  }
  for (const std::string& key : reader.keys())
    if (key != kObjectGraphKey && !values.contains(key)) report.unused_keys.push_back(key);
  return report;
}

}  // namespace capstan
