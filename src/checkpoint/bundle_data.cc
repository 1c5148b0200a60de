#include "checkpoint/bundle_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/crc32c.h"
#include "capstan/base/error.h"
#include "checkpoint/coding.h"
#include "tensor/storage.h"

namespace capstan::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "elements go between memory and file as they stand");

constexpr std::size_t kChunkBytes = 1 << 20;  // checksummed while it is in the cache

[[noreturn]] void fail(const BundleEntry& entry, const ReadableFile& file, std::string_view what) {
  throw DataLoss(fmt::format("TensorBundle, tensor '{}' at '{}' ({} bytes from {}): {}", entry.key, file.path(),
                             entry.proto.size, entry.proto.offset, what));
}

void check_crc(std::uint32_t crc, const BundleEntry& entry, const ReadableFile& file) {
  if (mask_crc(crc) == entry.proto.crc32c) return;
  fail(entry, file,
       fmt::format("Checksum does not match: stored {:#010x} vs. calculated on the restored bytes {:#010x}",
                   unmask_crc(entry.proto.crc32c), crc));
}

/// Reads on from a place, keeping the running checksum.
class DataCursor {
 public:
  DataCursor(const ReadableFile& file, std::uint64_t offset, std::uint64_t size)
      : file_(file), offset_(offset), left_(size) {}

  std::uint64_t left() const { return left_ + (buffer_.size() - used_); }
  void take(std::span<std::byte> bytes) {
    take_buffered(bytes);
    while (!bytes.empty()) {
      const auto chunk = bytes.first(std::min(bytes.size(), kChunkBytes));
      if (chunk.size() < kChunkBytes) {
        fill();
        take_buffered(bytes);
        continue;
      }
      read(chunk);
      crc_ = crc32c(crc_, chunk);
      bytes = bytes.subspan(chunk.size());
    }
  }
  /// A varint's bytes do not enter the checksum; false if there is none within what is left.
  bool take_varint(std::uint64_t& value) {
    if (buffer_.size() - used_ < 10) fill();
    std::string_view rest(reinterpret_cast<const char*>(buffer_.data()) + used_, buffer_.size() - used_);
    const std::size_t before = rest.size();
    const bool is_there = checkpoint::take_varint(rest, value);
    used_ += before - rest.size();
    return is_there;
  }
  void add_to_crc(std::span<const std::byte> bytes) { crc_ = crc32c(crc_, bytes); }
  std::uint32_t crc() const { return crc_; }

 private:
  void take_buffered(std::span<std::byte>& bytes) {
    const auto chunk = std::span(buffer_).subspan(used_, std::min(bytes.size(), buffer_.size() - used_));
    if (chunk.empty()) return;
    std::memcpy(bytes.data(), chunk.data(), chunk.size());
    crc_ = crc32c(crc_, chunk);
    used_ += chunk.size();
    bytes = bytes.subspan(chunk.size());
  }
  void fill() {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    const std::size_t kept = buffer_.size();
    buffer_.resize(kept + static_cast<std::size_t>(std::min<std::uint64_t>(left_, kFillBytes)));
    read(std::span(buffer_).subspan(kept));
  }
  void read(std::span<std::byte> bytes) {
    file_.read_at(offset_, bytes);
    offset_ += bytes.size();
    left_ -= bytes.size();
  }

  static constexpr std::size_t kFillBytes = 64 << 10;
  const ReadableFile& file_;
  std::uint64_t offset_;
  std::uint64_t left_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
  std::uint32_t crc_ = 0;
};

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; width > 1 && at < bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
}

std::span<const std::byte> word_bytes(std::uint64_t& value, std::size_t width, bool swap) {
  if (swap) value = __builtin_bswap64(value) >> (64 - 8 * width);
  return std::as_bytes(std::span(&value, 1)).first(width);
}

/// Takes the lengths and checks their checksum and that they fill the entry exactly.
std::vector<std::uint64_t> take_lengths(DataCursor& cursor, const BundleEntry& entry, const ReadableFile& file,
                                        bool swap) {
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(entry.shape.num_elements()));
  for (std::uint64_t& length : lengths) {
    if (!cursor.take_varint(length)) fail(entry, file, "String lengths longer than expected offset");
    std::uint64_t word = length;
    cursor.add_to_crc(word_bytes(word, length <= 0xffffffffu ? 4 : 8, swap));
  }
  if (cursor.left() < 4) fail(entry, file, "String lengths longer than expected offset");
  const std::uint32_t calculated = mask_crc(cursor.crc());
  std::byte stored[4];
  cursor.take(stored);
  if (swap) std::ranges::reverse(stored);
  if (std::memcmp(stored, &calculated, 4) != 0) fail(entry, file, "The length checksum does not match");
  std::uint64_t room = cursor.left();
  for (std::uint64_t length : lengths) {
    if (length > room)
      fail(entry, file, "Checksum does not match: the strings' lengths add up to more than the entry has");
    room -= length;
  }
  if (room) fail(entry, file, fmt::format("Checksum does not match: {} bytes follow the last string", room));
  return lengths;
}

}  // namespace

Tensor read_elements(const BundleEntry& entry, const ReadableFile& file, bool swap) {
  Tensor tensor = new_tensor(entry.dtype, entry.shape);
  const std::span bytes(static_cast<std::byte*>(mutable_data(tensor)), static_cast<std::size_t>(entry.proto.size));
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kChunkBytes) {
    const auto chunk = bytes.subspan(at, std::min(kChunkBytes, bytes.size() - at));
    file.read_at(static_cast<std::uint64_t>(entry.proto.offset) + at, chunk);
    crc = crc32c(crc, chunk);
  }
  check_crc(crc, entry, file);
  const std::size_t size = dtype_size(entry.dtype);
  if (swap) swap_bytes(bytes, is_complex(entry.dtype) ? size / 2 : size);
  // C++ knows no bool but 0 and 1.
  if (entry.dtype == DType::boolean)
    for (std::byte& byte : bytes) byte = std::byte{byte != std::byte{0}};
  return tensor;
}

Tensor read_strings(const BundleEntry& entry, const ReadableFile& file, bool swap) {
  DataCursor cursor(file, static_cast<std::uint64_t>(entry.proto.offset), static_cast<std::uint64_t>(entry.proto.size));
  const auto lengths = take_lengths(cursor, entry, file, swap);
  Tensor tensor = new_tensor(DType::string, entry.shape);
  auto* text = mutable_values<std::string>(tensor);
  for (std::uint64_t length : lengths) {
    text->resize(length);
    cursor.take(std::as_writable_bytes(std::span(*text)));
    ++text;
  }
  check_crc(cursor.crc(), entry, file);
  return tensor;
}

}  // namespace capstan::checkpoint
