// Zip archives as far as .npz files need them: entries stored or deflated, and the 64-bit fields of large archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace capstan {

struct ZipEntry {
  std::string name;
  std::uint64_t method = 0;  // 0 stored, 8 deflated
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
  std::uint64_t offset = 0;  // of the local header
};

class ZipReader {
 public:
  /// Reads the directory; `archive` must outlive the reader. Throws InvalidArgument if there is none, DataLoss if it
  /// contradicts itself or the archive's length, Unimplemented for encrypted or split archives.
  explicit ZipReader(std::span<const std::byte> archive);
  const std::vector<ZipEntry>& entries() const noexcept { return entries_; }
  /// Calls `use` with the entry's content, whose checksum has been compared.
  void read(const ZipEntry& entry, const std::function<void(std::span<const std::byte>)>& use) const;

 private:
  std::span<const std::byte> archive_;
  std::vector<ZipEntry> entries_;
};

using ByteSink = std::function<void(const void* data, std::size_t bytes)>;

class ZipWriter {
 public:
  /// Values of `field_limit` and above go to 64-bit fields; a test sets it low.
  explicit ZipWriter(ByteSink sink, std::uint64_t field_limit = 0xffffffff)
      : sink_(std::move(sink)), field_limit_(field_limit) {}
  /// Adds a stored entry, given in pieces.
  void add(std::string_view name, std::span<const std::string_view> pieces);
  /// Writes the directory. Nothing may be added afterwards.
  void finish();

 private:
  void write(const std::string& bytes);
  std::string header(const ZipEntry& entry, bool is_directory) const;

  ByteSink sink_;
  std::uint64_t field_limit_;
  std::uint64_t position_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace capstan
