// Unpacking gzip data that lies in memory.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace capstan::data {

/// Do the bytes begin as gzip data do?
bool is_gzip(std::span<const std::byte> bytes);

/// Reads gzip data piece by piece, one member after the other. `packed` outlives it.
class GzipReader {
 public:
  explicit GzipReader(std::span<const std::byte> packed);
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  ~GzipReader();

  /// More than this many bytes cannot come out.
  std::uint64_t most_bytes() const;
  /// Fills `to`; fewer bytes come only at the end, and then the checksum is verified. Throws DataLoss for damaged data
  /// and OutOfRange if they are cut short.
  std::size_t read(std::span<std::byte> to);

 private:
  void inflate_into(std::span<std::byte> to);

  std::span<const std::byte> packed_;
  std::size_t read_ = 0;     // packed bytes used
  std::size_t written_ = 0;  // bytes given back in the running call
  bool is_inside_member_ = true;
  z_stream stream_{};
};

}  // namespace capstan::data
