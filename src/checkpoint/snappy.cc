#include "checkpoint/snappy.h"

#include "capstan/base/error.h"
#include "checkpoint/coding.h"

namespace capstan::checkpoint {
namespace {

// The densest element, a copy of 64 bytes, takes three: no honest input expands further.
constexpr std::uint64_t kMostExpansion = 22;

[[noreturn]] void fail() { throw DataLoss("corrupted compressed block contents"); }

std::size_t take_little_endian(std::string_view& in, std::size_t count) {
  if (in.size() < count) fail();
  std::size_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= static_cast<std::size_t>(static_cast<unsigned char>(in[i])) << (8 * i);
  in.remove_prefix(count);
  return value;
}

void append_literal(std::string_view& in, std::size_t tag, std::string& out, std::size_t limit) {
  std::size_t length = (tag >> 2) + 1;
  if (length > 60) length = take_little_endian(in, length - 60) + 1;
  if (length > in.size() || length > limit - out.size()) fail();
  out.append(in.substr(0, length));
  in.remove_prefix(length);
}

void append_copy(std::size_t length, std::size_t offset, std::string& out, std::size_t limit) {
  if (offset == 0 || offset > out.size() || length > limit - out.size()) fail();
  for (std::size_t from = out.size() - offset; length; --length, ++from) out += out[from];  // may overlap
}

}  // namespace

std::string snappy_decompress(std::string_view in) {
  std::uint32_t length = 0;
  const std::size_t stored = in.size();
  if (!take_varint(in, length) || length > kMostExpansion * stored) fail();
  std::string out;
  out.reserve(length);
  while (!in.empty()) {
    const std::size_t tag = take_little_endian(in, 1);
    switch (tag & 3) {
      case 0:
        append_literal(in, tag, out, length);
        break;
      case 1:
        append_copy(4 + ((tag >> 2) & 7), (tag >> 5) << 8 | take_little_endian(in, 1), out, length);
        break;
      case 2:
        append_copy((tag >> 2) + 1, take_little_endian(in, 2), out, length);
        break;
      default:
        append_copy((tag >> 2) + 1, take_little_endian(in, 4), out, length);
        break;
    }
  }
  if (out.size() != length) fail();
  return out;
}

}  // namespace capstan::checkpoint
