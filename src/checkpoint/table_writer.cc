#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "capstan/base/error.h"
#include "checkpoint/coding.h"
#include "checkpoint/table.h"

namespace capstan::checkpoint {
namespace {

constexpr std::size_t kMostEntryBytes = 0x7fffffff - 2 * kBlockBytes;

}  // namespace

std::string shortest_separator(std::string_view key, std::string_view next) {
  const auto differing = std::ranges::mismatch(key, next).in1 - key.begin();
  const auto common = static_cast<std::size_t>(differing);
  if (common >= std::min(key.size(), next.size())) return std::string(key);  // one is the other's beginning
  const auto byte = static_cast<unsigned char>(key[common]);
  if (byte == 0xff || byte + 1 >= static_cast<unsigned char>(next[common])) return std::string(key);
  std::string separator(key.substr(0, common + 1));
  separator.back() = static_cast<char>(byte + 1);
  return separator;
}

std::string short_successor(std::string_view key) {
  const std::size_t place = key.find_first_not_of('\xff');
  if (place == std::string_view::npos) return std::string(key);
  std::string successor(key.substr(0, place + 1));
  successor.back() = static_cast<char>(static_cast<unsigned char>(successor.back()) + 1);
  return successor;
}

void BlockBuilder::add(std::string_view key, std::string_view value) {
  std::size_t shared = 0;
  if (entries_since_restart_ < restart_interval_) {
    shared = static_cast<std::size_t>(std::ranges::mismatch(last_key_, key).in1 - last_key_.begin());
  } else {
    restarts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    entries_since_restart_ = 0;
  }
  put_varint(bytes_, shared);
  put_varint(bytes_, key.size() - shared);
  put_varint(bytes_, value.size());
  bytes_ += key.substr(shared);
  bytes_ += value;
  last_key_ = key;
  ++entries_since_restart_;
}

std::string BlockBuilder::finish() {
  for (std::uint32_t restart : restarts_) put_fixed32(bytes_, restart);
  put_fixed32(bytes_, static_cast<std::uint32_t>(restarts_.size()));
  restarts_ = {0};
  entries_since_restart_ = 0;
  last_key_.clear();
  return std::exchange(bytes_, {});
}

void TableWriter::add(std::string_view key, std::string_view value) {
  if (has_key_ && key <= last_key_)
    throw InvalidArgument(fmt::format("a table's keys must ascend, got '{}' after '{}'", key, last_key_));
  if (key.size() + value.size() > kMostEntryBytes)
    throw InvalidArgument(fmt::format("a table's entry must be below 2 GiB, '{}' has {} bytes", key, value.size()));
  // A giant begins a block of its own, so that finding its neighbours does not read it.
  if (key.size() + value.size() >= 2 * kBlockBytes) flush();
  if (unindexed_) index(shortest_separator(last_key_, key));
  block_.add(key, value);
  last_key_ = key;
  has_key_ = true;
  if (block_.size_estimate() >= kBlockBytes) flush();
}

void TableWriter::finish() {
  flush();
  BlockBuilder metaindex(kRestartInterval);
  const Handle metaindex_handle = write_block(metaindex);
  if (unindexed_) index(short_successor(last_key_));
  std::string footer = encode(metaindex_handle) + encode(write_block(index_));
  footer.resize(kFooterBytes - sizeof kTableMagic);
  footer.append(reinterpret_cast<const char*>(&kTableMagic), sizeof kTableMagic);
  file_.append(footer);
}

void TableWriter::flush() {
  if (!block_.is_empty()) unindexed_ = write_block(block_);
}

/// The block's key in the index waits for the next block's first key.
void TableWriter::index(const std::string& separator) { index_.add(separator, encode(*std::exchange(unindexed_, {}))); }

TableWriter::Handle TableWriter::write_block(BlockBuilder& builder) {
  std::string block = builder.finish();
  const Handle handle{file_.size(), block.size()};
  block += static_cast<char>(Compression::none);
  put_fixed32(block, mask_crc(crc32c(block)));
  file_.append(block);
  return handle;
}

std::string TableWriter::encode(Handle handle) {
  std::string out;
  put_varint(out, handle.offset);
  put_varint(out, handle.size);
  return out;
}

}  // namespace capstan::checkpoint
