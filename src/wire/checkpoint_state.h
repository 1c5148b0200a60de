// The content of the file named `checkpoint` that lists the checkpoints of a directory, in protobuf's text format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::wire {

struct CheckpointState {
  std::string model_checkpoint_path;
  std::vector<std::string> all_model_checkpoint_paths;
  std::vector<double> all_model_checkpoint_timestamps;
  std::optional<double> last_preserved_timestamp;
};

std::string encode_text(const CheckpointState& state);
/// Throws DataLoss, with the line, for anything that is not such a text. An empty text is an empty state.
CheckpointState decode_checkpoint_state(std::string_view text);

}  // namespace capstan::wire
