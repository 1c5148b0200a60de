// The file named `checkpoint`, in which a directory's checkpoints are listed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::checkpoint {

/// How an absolute path stands in the file: as it is, or seen from the file's directory, which can then be moved. A
/// relative path in a relative directory is always written as seen from there, one in an absolute directory as it is.
enum class StatePaths { as_given, relative };

/// The list. Paths are prefixes of checkpoints.
struct State {
  std::string latest;
  std::vector<std::string> all;          // oldest first; the last is the latest
  std::vector<double> timestamps;        // seconds since 1970: none, or one for each path
  std::optional<double> last_preserved;  // when the last checkpoint was kept for good
};

/// The list in `directory`, with paths that can be opened from where we are; nothing if there is no file. Throws
/// InvalidArgument if the file names no latest checkpoint, DataLoss if it cannot be understood.
std::optional<State> read_state(const std::string& directory, std::string_view file_name = "checkpoint");

/// Replaces the list in `directory`; a reader finds the old one or the new one. `latest` is appended to `all` if it is
/// not the last there. Throws InvalidArgument if the number of timestamps does not fit.
void write_state(const std::string& directory, State state, std::string_view file_name = "checkpoint",
                 StatePaths paths = StatePaths::as_given);

/// The latest checkpoint that the list names, if its files are there.
std::optional<std::string> latest_checkpoint(const std::string& directory, std::string_view file_name = "checkpoint");

/// Are there files of a checkpoint with this prefix: an index, or a file or shards of the old layout?
bool checkpoint_exists(const std::string& prefix);

}  // namespace capstan::checkpoint
