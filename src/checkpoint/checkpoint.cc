#include "capstan/checkpoint/checkpoint.h"

#include <filesystem>
#include <optional>
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

/// A value from the file for a variable, checked.
Tensor value_for(const checkpoint::BundleReader& reader, const std::string& prefix, const std::string& key,
                 const Variable& variable) {
  const auto [dtype, shape] = reader.entry(key);
  if (dtype != variable.dtype())
    throw InvalidArgument("Checkpoint.restore: " + prefix + ", key " + key + ": the file holds type " +
                          std::string(dtype_name(dtype)) + ", variable '" + variable.name() + "' has " +
                          std::string(dtype_name(variable.dtype())));
  if (!variable.shape().is_compatible_with(shape))
    throw InvalidArgument("Checkpoint.restore: " + prefix + ", key " + key + ": the file holds shape " +
                          shape.to_string() + ", variable '" + variable.name() + "' has " +
                          variable.shape().to_string());
  return reader.read(key);
}

/// Makes the slots that the file has and the optimizers below `walk` do not have yet.
void create_saved_slots(const checkpoint::BundleReader& reader, const checkpoint::ObjectWalk& walk) {
  const std::string marker = "/.OPTIMIZER_SLOT/";
  for (const std::string& key : reader.keys()) {
    const std::size_t at = key.find(marker);
    if (at == std::string::npos) continue;
    for (const auto& [object, path] : walk.objects()) {
      const std::string begin = key.substr(0, at) + marker + path + "/";
      const std::string end = "/.ATTRIBUTES/VARIABLE_VALUE";
      if (path.empty() || key.rfind(begin, 0) != 0 || key.size() <= begin.size() + end.size()) continue;
      const std::string slot = key.substr(begin.size(), key.size() - begin.size() - end.size());
      for (const auto& [variable_key, variable] : walk.variables())
        if (variable_key == key.substr(0, at) + end) object->create_slot(variable, slot);
    }
  }
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
  checkpoint::State state = checkpoint::read_state(directory).value_or(checkpoint::State{});
  state.latest = path;
  state.all = {path};
  state.timestamps.clear();
  checkpoint::write_state(directory, state);
  return path;
}

RestoreReport Checkpoint::restore(const std::string& prefix) const {
  const PauseObservers silent;
  const checkpoint::BundleReader reader(prefix);
  create_saved_slots(reader, checkpoint::ObjectWalk(*root_));
  const checkpoint::ObjectWalk walk(*root_);
  RestoreReport report;
  std::set<std::string> used{kObjectGraphKey};
  std::vector<std::pair<Variable, Tensor>> values;
  for (const auto& [key, variable] : walk.variables()) {
    if (!reader.contains(key)) {
      report.missing_variables.push_back(key);
      continue;
    }
    used.insert(key);
    values.emplace_back(variable, value_for(reader, prefix, key, variable));
  }
  for (const auto& [variable, value] : values) variable.assign(value);
  for (const std::string& key : reader.keys())
    if (!used.contains(key)) report.unused_keys.push_back(key);
  return report;
}

}  // namespace capstan
