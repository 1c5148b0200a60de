#include "tensor/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "capstan/base/error.h"
#include "tensor/string_literal.h"

namespace capstan {
namespace {

constexpr std::uint64_t kLocalSignature = 0x04034b50, kDirectorySignature = 0x02014b50, kEndSignature = 0x06054b50,
                        kEnd64Signature = 0x06064b50, kLocatorSignature = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kDirectoryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr std::uint64_t kSeeExtra = 0xffffffff, kSeeExtra16 = 0xffff;
constexpr std::uint64_t kExtra64 = 1;        // the extra field that holds 64-bit numbers
constexpr std::uint64_t kMaxDeflate = 1032;  // no deflated byte stands for more

[[noreturn]] void damaged(const std::string& why) { throw DataLoss("the zip archive is damaged: " + why); }

/// Little-endian numbers inside a known range.
class Fields {
 public:
  Fields(std::span<const std::byte> bytes, const char* what) : bytes_(bytes), what_(what) {}
  Fields at(std::uint64_t offset, std::uint64_t length, const char* what) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) damaged(std::string(what) + " lies outside of it");
    return {bytes_.subspan(offset, length), what};
  }
  std::uint64_t number(std::size_t offset, std::size_t length) const {
    if (offset + length > bytes_.size()) damaged(std::string(what_) + " is cut short");
    std::uint64_t value = 0;
    for (std::size_t i = length; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(bytes_[offset + i]);
    return value;
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::span<const std::byte> bytes_;
  const char* what_;
};

std::uint32_t checksum_of(std::uint32_t start, const void* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(crc32_z(start, static_cast<const Bytef*>(data), bytes));
}

struct Directory {
  std::uint64_t entries, bytes, offset;
};

Directory find_directory(const Fields& archive) {
  const std::size_t size = archive.bytes().size();
  if (size < kEndBytes) throw InvalidArgument("this is no .npz file: it is too short for a zip archive");
  const std::size_t furthest = std::min<std::size_t>(size - kEndBytes, 0xffff);  // a comment may follow
  std::size_t back = 0;
  while (back <= furthest &&
         (archive.number(size - kEndBytes - back, 4) != kEndSignature || archive.number(size - 2 - back, 2) != back))
    ++back;
  if (back > furthest) throw InvalidArgument("this is no .npz file, or its end is missing: there is no zip directory");
  const std::size_t end_at = size - kEndBytes - back;
  const Fields end = archive.at(end_at, kEndBytes, "the end record");
  if (end.number(4, 2) != end.number(6, 2)) throw Unimplemented("zip archives in several parts cannot be read");
  Directory directory{end.number(10, 2), end.number(12, 4), end.number(16, 4)};
  if (directory.entries != kSeeExtra16 && directory.bytes != kSeeExtra && directory.offset != kSeeExtra)
    return directory;
  if (end_at < kLocatorBytes) damaged("the 64-bit directory is missing");
  const Fields locator = archive.at(end_at - kLocatorBytes, kLocatorBytes, "the 64-bit locator");
  if (locator.number(0, 4) != kLocatorSignature) return directory;  // the numbers happen to be the largest ones
  const Fields end64 = archive.at(locator.number(8, 8), kEnd64Bytes, "the 64-bit end record");
  if (end64.number(0, 4) != kEnd64Signature) damaged("the 64-bit end record is not where it should be");
  return {end64.number(32, 8), end64.number(40, 8), end64.number(48, 8)};
}

/// Takes the numbers that did not fit into an entry's fields from its extra field.
void read_extra(const Fields& extra, ZipEntry& entry) {
  for (std::size_t at = 0; at + 4 <= extra.bytes().size();) {
    const std::uint64_t length = extra.number(at + 2, 2);
    const Fields field = extra.at(at + 4, length, "an extra field");
    if (extra.number(at, 2) == kExtra64) {
      std::size_t next = 0;
      for (std::uint64_t* value : {&entry.bytes, &entry.packed_bytes, &entry.offset}) {
        if (*value != kSeeExtra) continue;
        *value = field.number(next, 8);
        next += 8;
      }
      return;
    }
    at += 4 + length;
  }
}

std::string inflate_all(std::span<const std::byte> packed, std::uint64_t bytes) {
  std::string content(bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw ResourceExhausted("out of memory while inflating a zip entry");
  constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
  std::size_t in = 0, out = 0;
  int state = Z_OK;
  char overflow;
  while (state == Z_OK && out <= content.size()) {
    const auto input = static_cast<uInt>(std::min(kPiece, packed.size() - in));
    const bool is_full = out == content.size();
    const auto room = is_full ? 1u : static_cast<uInt>(std::min(kPiece, content.size() - out));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in));
    stream.avail_in = input;
    stream.next_out = reinterpret_cast<Bytef*>(is_full ? &overflow : content.data() + out);
    stream.avail_out = room;
    state = inflate(&stream, Z_NO_FLUSH);
    in += input - stream.avail_in;
    out += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out != content.size()) damaged("a deflated entry does not give the bytes it declares");
  return content;
}

void put(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

ZipReader::ZipReader(std::span<const std::byte> archive) : archive_(archive) {
  const Fields file(archive, "the archive");
  const Directory where = find_directory(file);
  const Fields directory = file.at(where.offset, where.bytes, "the directory");
  std::size_t at = 0;
  std::uint64_t packed_bytes = 0;
  while (at < where.bytes) {
    const Fields row = directory.at(at, kDirectoryBytes, "an entry of the directory");
    if (row.number(0, 4) != kDirectorySignature) damaged("an entry of the directory has a wrong signature");
    const std::uint64_t name = row.number(28, 2), extra = row.number(30, 2), comment = row.number(32, 2);
    ZipEntry entry{.name = directory.at(at + kDirectoryBytes, name, "an entry's name").text(),
                   .method = row.number(10, 2),
                   .packed_bytes = row.number(20, 4),
                   .bytes = row.number(24, 4),
                   .checksum = static_cast<std::uint32_t>(row.number(16, 4)),
                   .offset = row.number(42, 4)};
    if (row.number(8, 2) & 1) throw Unimplemented("the zip entry " + string_literal(entry.name) + " is encrypted");
    read_extra(directory.at(at + kDirectoryBytes + name, extra, "an extra field"), entry);
    // Entries that share bytes could unpack to any size.
    if (entry.packed_bytes > archive.size() - packed_bytes) damaged("its entries are longer than the archive");
    packed_bytes += entry.packed_bytes;
    entries_.push_back(std::move(entry));
    at += kDirectoryBytes + name + extra + comment;
  }
  if (at != where.bytes || entries_.size() != where.entries) damaged("the directory does not have the declared length");
}

void ZipReader::read(const ZipEntry& entry, const std::function<void(std::span<const std::byte>)>& use) const {
  const Fields file(archive_, "the archive");
  const Fields local = file.at(entry.offset, kLocalBytes, "an entry's header");
  if (local.number(0, 4) != kLocalSignature) damaged("an entry's header has a wrong signature");
  const std::uint64_t name = local.number(26, 2), extra = local.number(28, 2);
  if (file.at(entry.offset + kLocalBytes, name, "an entry's name").text() != entry.name)
    damaged("an entry has two names");
  const auto packed = file.at(entry.offset + kLocalBytes + name + extra, entry.packed_bytes, "an entry").bytes();
  const auto check = [&](std::span<const std::byte> content) {
    if (checksum_of(0, content.data(), content.size()) != entry.checksum) damaged("an entry's checksum is wrong");
    use(content);
  };
  if (entry.method == 0) {
    if (entry.bytes != entry.packed_bytes) damaged("a stored entry has two lengths");
    return check(packed);
  }
  if (entry.method != 8)
    throw Unimplemented("zip compression method " + std::to_string(entry.method) + " cannot be read; store or deflate");
  if (entry.bytes / kMaxDeflate > entry.packed_bytes) damaged("an entry declares more bytes than it can hold");
  const std::string content = inflate_all(packed, entry.bytes);
  check(std::as_bytes(std::span(content)));
}

void ZipWriter::write(const std::string& bytes) {
  sink_(bytes.data(), bytes.size());
  position_ += bytes.size();
}

std::string ZipWriter::header(const ZipEntry& entry, bool is_directory) const {
  std::string extra;
  const auto field = [&](std::uint64_t value) {
    if (value < field_limit_) return value;
    put(extra, value, 8);
    return kSeeExtra;
  };
  // In a local header the two sizes go to the extra field together.
  const bool is_long = entry.bytes >= field_limit_;
  const std::uint64_t bytes = field(entry.bytes), packed_bytes = field(entry.packed_bytes);
  const std::uint64_t offset = is_directory ? field(entry.offset) : 0;
  if (!extra.empty()) {
    std::string head;
    put(head, kExtra64, 2);
    put(head, extra.size(), 2);
    extra.insert(0, head);
  }
  std::string out;
  put(out, is_directory ? kDirectorySignature : kLocalSignature, 4);
  const std::uint64_t version = is_long || !extra.empty() ? 45 : 20;
  if (is_directory) put(out, version | 3 << 8, 2);  // made on Unix
  put(out, version, 2);
  put(out, 0x800, 2);  // names are UTF-8
  put(out, entry.method, 2);
  put(out, 0, 2);     // midnight
  put(out, 0x21, 2);  // 1 January 1980: the same tensors give the same bytes
  put(out, entry.checksum, 4);
  put(out, packed_bytes, 4);
  put(out, bytes, 4);
  put(out, entry.name.size(), 2);
  put(out, extra.size(), 2);
  if (is_directory) {
    put(out, 0, 2);                 // no comment
    put(out, 0, 2);                 // first part
    put(out, 0, 2);                 // binary
    put(out, 0100600ull << 16, 4);  // a regular file of its owner
    put(out, offset, 4);
  }
  return out + entry.name + extra;
}

void ZipWriter::add(std::string_view name, std::span<const std::string_view> pieces) {
  if (name.size() > 0xffff) throw InvalidArgument("the name of a zip entry has more than 65535 bytes");
  ZipEntry entry{.name = std::string(name), .offset = position_};
  for (std::string_view piece : pieces) {
    entry.checksum = checksum_of(entry.checksum, piece.data(), piece.size());
    entry.bytes += piece.size();
  }
  entry.packed_bytes = entry.bytes;
  write(header(entry, false));
  for (std::string_view piece : pieces) sink_(piece.data(), piece.size());
  position_ += entry.bytes;
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const std::uint64_t begin = position_;
  for (const ZipEntry& entry : entries_) write(header(entry, true));
  const std::uint64_t bytes = position_ - begin, count = entries_.size(), end64 = position_;
  std::string out;
  if (count >= std::min(kSeeExtra16, field_limit_) || bytes >= field_limit_ || begin >= field_limit_) {
    put(out, kEnd64Signature, 4);
    put(out, kEnd64Bytes - 12, 8);
    put(out, 45 | 3 << 8, 2);
    put(out, 45, 2);
    put(out, 0, 8);  // one part
    put(out, count, 8);
    put(out, count, 8);
    put(out, bytes, 8);
    put(out, begin, 8);
    put(out, kLocatorSignature, 4);
    put(out, 0, 4);
    put(out, end64, 8);
    put(out, 1, 4);
  }
  const bool is_long = !out.empty();
  put(out, kEndSignature, 4);
  put(out, 0, 4);
  put(out, is_long ? kSeeExtra16 : count, 2);
  put(out, is_long ? kSeeExtra16 : count, 2);
  put(out, is_long ? kSeeExtra : bytes, 4);
  put(out, is_long ? kSeeExtra : begin, 4);
  put(out, 0, 2);
  write(out);
}

}  // namespace capstan
