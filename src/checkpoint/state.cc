#include "capstan/checkpoint/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "capstan/base/error.h"
#include "checkpoint/bundle.h"
#include "wire/checkpoint_state.h"

namespace capstan::checkpoint {
namespace {

std::string seen_from(const std::filesystem::path& directory, const std::filesystem::path& path) {
  return path.lexically_normal().lexically_relative(directory.lexically_normal()).string();
}

/// `path` as it stands in the file.
std::string path_in_file(const std::string& directory, const std::string& path, StatePaths paths) {
  const std::filesystem::path from(directory.empty() ? "." : directory), to(path);
  if (from.is_relative() && to.is_relative()) return seen_from(from, to);
  return paths == StatePaths::relative && to.is_absolute() ? seen_from(std::filesystem::absolute(from), to) : path;
}

/// Does `name` read `begin` followed by "-?????-of-?????"?
bool is_shard_of(std::string_view name, std::string_view begin) {
  if (!name.starts_with(begin)) return false;
  const std::string_view rest = name.substr(begin.size());
  const auto are_digits = [](std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; };
  return rest.size() == 15 && rest[0] == '-' && rest.substr(6, 4) == "-of-" && are_digits(rest.substr(1, 5)) &&
         are_digits(rest.substr(10));
}

}  // namespace

std::optional<State> read_state(const std::string& directory, std::string_view file_name) {
  const std::string path = join_path(directory, file_name);
  if (!path_exists(path)) return std::nullopt;
  wire::CheckpointState proto;
  try {
    proto = wire::decode_checkpoint_state(read_file(path));
  } catch (DataLoss& error) {
    error.add_context(fmt::format("'{}'", path));
    throw;
  }
  if (proto.model_checkpoint_path.empty())
    throw InvalidArgument(
        fmt::format("Invalid checkpoint state loaded from '{}': it names no latest checkpoint", path));
  State state{join_path(directory, proto.model_checkpoint_path),
              {},
              std::move(proto.all_model_checkpoint_timestamps),
              proto.last_preserved_timestamp};
  for (const std::string& one : proto.all_model_checkpoint_paths) state.all.push_back(join_path(directory, one));
  return state;
}

void write_state(const std::string& directory, State state, std::string_view file_name, StatePaths paths) {
  if (state.latest.empty()) throw InvalidArgument("write_state: the latest checkpoint must be named");
  if (state.all.empty() || state.all.back() != state.latest) state.all.push_back(state.latest);
  if (!state.timestamps.empty() && state.timestamps.size() != state.all.size())
    throw InvalidArgument(fmt::format("write_state: there must be as many timestamps as paths, got {} and {}",
                                      state.timestamps.size(), state.all.size()));
  wire::CheckpointState proto{
      path_in_file(directory, state.latest, paths), {}, std::move(state.timestamps), state.last_preserved};
  for (const std::string& one : state.all)
    proto.all_model_checkpoint_paths.push_back(path_in_file(directory, one, paths));
  if (!directory.empty()) make_directories(directory);
  replace_file(join_path(directory, file_name), wire::encode_text(proto));
}

bool checkpoint_exists(const std::string& prefix) {
  if (path_exists(index_path(prefix)) || path_exists(prefix)) return true;
  const std::string directory = parent_directory(prefix);
  if (!path_exists(directory)) return false;
  return std::ranges::any_of(list_directory(directory),
                             [&](const std::string& name) { return is_shard_of(name, base_name(prefix)); });
}

std::optional<std::string> latest_checkpoint(const std::string& directory, std::string_view file_name) {
  const std::optional<State> state = read_state(directory, file_name);
  if (!state || !checkpoint_exists(state->latest)) return std::nullopt;
  return state->latest;
}

}  // namespace capstan::checkpoint
