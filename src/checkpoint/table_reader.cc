#include <fmt/format.h>

#include <array>

#include "base/crc32c.h"
#include "capstan/base/error.h"
#include "checkpoint/coding.h"
#include "checkpoint/snappy.h"
#include "checkpoint/table.h"

namespace capstan::checkpoint {

void TableReader::fail(std::string_view what) const { throw DataLoss(fmt::format("'{}': {}", file_.path(), what)); }

TableReader::TableReader(const ReadableFile& file) : file_(file) {
  if (file.size() < kFooterBytes) fail("file is too short to be an sstable");
  std::array<char, kFooterBytes> footer;
  file.read_at(file.size() - kFooterBytes, std::as_writable_bytes(std::span(footer)));
  std::string_view bytes(footer.data(), footer.size());
  if (bytes.substr(40) != std::string_view(reinterpret_cast<const char*>(&kTableMagic), 8))
    fail("not an sstable (bad magic number)");
  std::string_view handles = bytes.substr(0, 40);
  take_handle(handles);  // the metaindex, which is always empty
  const std::string index = read_block(take_handle(handles));
  // Blocks follow one another. Insisting on it bounds the work: each byte of the file belongs to one block at most.
  std::uint64_t end = 0;
  visit_block(index, [&](std::string_view, std::string_view value) {
    blocks_.push_back(take_handle(value));
    if (blocks_.back().offset < end) fail("bad block handle: the blocks overlap");
    end = blocks_.back().offset + blocks_.back().size + kTrailerBytes;
  });
}

TableReader::Handle TableReader::take_handle(std::string_view& bytes) const {
  Handle handle;
  if (!take_varint(bytes, handle.offset) || !take_varint(bytes, handle.size)) fail("bad block handle");
  const std::uint64_t length = file_.size() - kFooterBytes;
  if (handle.offset > length || handle.size > length - handle.offset ||
      kTrailerBytes > length - handle.offset - handle.size)
    throw OutOfRange(
        fmt::format("'{}': Read less bytes than requested: a block handle names {} bytes at {}, the file has {}",
                    file_.path(), handle.size, handle.offset, file_.size()));
  return handle;
}

std::string TableReader::read_block(Handle handle) const {
  std::string block(handle.size + kTrailerBytes, '\0');
  file_.read_at(handle.offset, std::as_writable_bytes(std::span(block)));
  if (mask_crc(crc32c(std::string_view(block).substr(0, handle.size + 1))) != fixed32_at(block, handle.size + 1))
    fail(fmt::format("block checksum mismatch in the block at {}", handle.offset));
  const auto compression = static_cast<Compression>(block[handle.size]);
  block.resize(handle.size);
  switch (compression) {
    case Compression::none:
      return block;
    case Compression::snappy:
      break;
    default:
      fail(fmt::format("bad block type {} in the block at {}", static_cast<int>(compression), handle.offset));
  }
  try {
    return snappy_decompress(block);
  } catch (Error& error) {
    error.add_context(fmt::format("'{}'", file_.path()));
    throw;
  }
}

void TableReader::visit_block(std::string_view block, const Visitor& visit) const {
  const std::size_t words = block.size() / 4;
  const std::uint32_t restarts = words ? fixed32_at(block, block.size() - 4) : 0;
  if (words == 0 || restarts > words - 1) fail("bad block contents");
  std::string_view entries = block.substr(0, block.size() - 4 - 4 * std::size_t{restarts});
  std::string key;
  for (bool is_first = true; !entries.empty(); is_first = false) {
    std::uint32_t shared = 0;
    std::uint32_t unshared = 0;
    std::uint32_t length = 0;
    if (!take_varint(entries, shared) || !take_varint(entries, unshared) || !take_varint(entries, length) ||
        shared > key.size() || unshared > entries.size() || length > entries.size() - unshared)
      fail("bad entry in block");
    const std::string before = key;
    key.resize(shared);
    key += entries.substr(0, unshared);
    if (!is_first && key <= before) fail("bad entry in block: the keys do not ascend");
    const std::string_view value = entries.substr(unshared, length);
    entries.remove_prefix(std::size_t{unshared} + length);
    visit(key, value);
  }
}

void TableReader::scan(const Visitor& visit) const {
  std::optional<std::string> last;
  for (const Handle& handle : blocks_) {
    std::string block_last;
    visit_block(read_block(handle), [&](std::string_view key, std::string_view value) {
      if (last && key <= *last) fail("the keys of its blocks do not ascend");
      last.reset();  // within the block, the order is known to be right
      block_last = key;
      visit(key, value);
    });
    last = std::move(block_last);
  }
}

}  // namespace capstan::checkpoint
