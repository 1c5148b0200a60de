#include "wire/checkpoint_state.h"

#include <fmt/format.h>

#include "wire/text_format.h"

namespace capstan::wire {

std::string encode_text(const CheckpointState& state) {
  std::string out = fmt::format("model_checkpoint_path: {}\n", text_of(state.model_checkpoint_path));
  for (const auto& path : state.all_model_checkpoint_paths)
    out += fmt::format("all_model_checkpoint_paths: {}\n", text_of(path));
  for (double time : state.all_model_checkpoint_timestamps)
    out += fmt::format("all_model_checkpoint_timestamps: {}\n", text_of(time));
  if (state.last_preserved_timestamp)
    out += fmt::format("last_preserved_timestamp: {}\n", text_of(*state.last_preserved_timestamp));
  return out;
}

CheckpointState decode_checkpoint_state(std::string_view text) {
  CheckpointState state;
  TextReader reader(text, "CheckpointState");
  for (auto field = reader.next_field(); !field.empty(); field = reader.next_field()) {
    if (field == "model_checkpoint_path")
      state.model_checkpoint_path = reader.take_string();
    else if (field == "all_model_checkpoint_paths")
      state.all_model_checkpoint_paths.push_back(reader.take_string());
    else if (field == "all_model_checkpoint_timestamps")
      state.all_model_checkpoint_timestamps.push_back(reader.take_double());
    else if (field == "last_preserved_timestamp")
      state.last_preserved_timestamp = reader.take_double();
    else
      reader.fail(fmt::format("there is no field '{}'", field));
  }
  return state;
}

}  // namespace capstan::wire
