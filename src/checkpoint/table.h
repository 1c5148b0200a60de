// Sorted tables: files of (key, value) pairs in ascending order of keys. The layout is told in
// docs/checkpoint-format.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "checkpoint/format.h"

namespace capstan::checkpoint {

/// Builds one block.
class BlockBuilder {
 public:
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}

  void add(std::string_view key, std::string_view value);
  bool is_empty() const { return bytes_.empty(); }
  std::size_t size_estimate() const { return bytes_.size() + 4 * restarts_.size() + 4; }
  /// The block's bytes; the builder is empty afterwards.
  std::string finish();

 private:
  int restart_interval_;
  int entries_since_restart_ = 0;
  std::string bytes_;
  std::string last_key_;
  std::vector<std::uint32_t> restarts_{0};
};

/// Writes a table to a file: `add` in ascending order of keys, then `finish`.
class TableWriter {
 public:
  explicit TableWriter(TemporaryFile& file) : file_(file) {}

  /// Throws InvalidArgument unless `key` comes after the one before.
  void add(std::string_view key, std::string_view value);
  /// Writes what remains, but does not close the file.
  void finish();

 private:
  struct Handle {
    std::uint64_t offset;
    std::uint64_t size;
  };
  Handle write_block(BlockBuilder& block);
  void flush();
  void index(const std::string& separator);
  static std::string encode(Handle handle);

  TemporaryFile& file_;
  BlockBuilder block_{kRestartInterval};
  BlockBuilder index_{kIndexRestartInterval};
  std::optional<Handle> unindexed_;  // the last block, when its entry in the index is still to come
  std::string last_key_;
  bool has_key_ = false;
};

/// Reads a table. Every block's checksum is verified, and no number of the file is used before it is compared with the
/// file's length. Damage throws DataLoss, a handle beyond the end OutOfRange.
class TableReader {
 public:
  /// `file` has to outlive the reader.
  explicit TableReader(const ReadableFile& file);

  using Visitor = std::function<void(std::string_view key, std::string_view value)>;
  /// Visits all pairs in order. The views are valid during the call only.
  void scan(const Visitor& visit) const;

 private:
  struct Handle {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  Handle take_handle(std::string_view& bytes) const;
  std::string read_block(Handle handle) const;
  void visit_block(std::string_view block, const Visitor& visit) const;
  [[noreturn]] void fail(std::string_view what) const;

  const ReadableFile& file_;
  std::vector<Handle> blocks_;
};

/// A short key that is not before `key` but before `next`.
std::string shortest_separator(std::string_view key, std::string_view next);
/// A short key that is not before `key`.
std::string short_successor(std::string_view key);

}  // namespace capstan::checkpoint
