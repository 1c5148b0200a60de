#include "data/gzip.h"

#include <algorithm>
#include <string>

#include "capstan/base/error.h"

namespace capstan::data {
namespace {

constexpr std::uint64_t kMaxDeflate = 1032;           // no deflated byte stands for more
constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr int kGzipWindow = MAX_WBITS + 16;           // gzip's frame, checksum included
constexpr std::byte kMagic[2] = {std::byte{0x1f}, std::byte{0x8b}};

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && std::equal(kMagic, kMagic + 2, bytes.begin());
}

GzipReader::GzipReader(std::span<const std::byte> packed) : packed_(packed) {
  if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw ResourceExhausted("out of memory while unpacking gzip data");
}

GzipReader::~GzipReader() { inflateEnd(&stream_); }

std::uint64_t GzipReader::most_bytes() const { return packed_.size() * kMaxDeflate; }

std::size_t GzipReader::read(std::span<std::byte> to) {
  written_ = 0;
  while (written_ < to.size()) {
    if (!is_inside_member_) {
      if (read_ == packed_.size()) break;
      inflateReset(&stream_);
      is_inside_member_ = true;
    }
    inflate_into(to);
  }
  return written_;
}

void GzipReader::inflate_into(std::span<std::byte> to) {
  const auto input = static_cast<uInt>(std::min(kPiece, packed_.size() - read_));
  const auto room = static_cast<uInt>(std::min(kPiece, to.size() - written_));
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data() + read_));
  stream_.avail_in = input;
  stream_.next_out = reinterpret_cast<Bytef*>(to.data() + written_);
  stream_.avail_out = room;
  const int state = inflate(&stream_, Z_NO_FLUSH);
  read_ += input - stream_.avail_in;
  written_ += room - stream_.avail_out;
  if (state == Z_STREAM_END) {
    is_inside_member_ = false;
  } else if (state == Z_MEM_ERROR) {
    throw ResourceExhausted("out of memory while unpacking gzip data");
  } else if (state != Z_OK && state != Z_BUF_ERROR) {
    throw DataLoss(std::string("the gzip data are damaged: ") + (stream_.msg ? stream_.msg : "unknown contents"));
  } else if (read_ == packed_.size() && written_ < to.size() && stream_.avail_out > 0) {
    throw OutOfRange("the gzip data are cut short after " + std::to_string(packed_.size()) + " bytes");
  }
}

}  // namespace capstan::data
