#include "tensor/npy_header.h"

#include <charconv>
#include <vector>

#include "capstan/base/error.h"
#include "tensor/string_literal.h"

namespace capstan {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostLength = 1 << 20;  // the longest shapes need less than 64 KiB
constexpr std::size_t kAlignment = 64;        // the elements begin at a multiple of it

/// Reads the dictionary's small part of Python.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' was expected");
  }
  std::string_view string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("a string was expected");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False was expected");
  }
  std::int64_t integer() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail("a dimension was expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }
  Shape shape() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!take(')')) {
      dims.push_back(integer());
      if (dims.size() > Shape::kMaxRank) fail("the shape has too many dimensions");
      if (take(',')) continue;
      expect(')');
      break;
    }
    return Shape(dims);
  }
  void expect_end() {
    skip_spaces();
    if (at_ != text_.size()) fail("something follows the dictionary");
  }
  bool is_next(char c) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == c;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw InvalidArgument("the .npy header is malformed at character " + std::to_string(at_) + ": " + why);
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

void set_type(NpyHeader& header, std::string_view type, Reader& reader) {
  const std::string shown = string_literal(type);
  std::string_view rest = type;
  header.byte_order = '|';
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    header.byte_order = rest[0] == '=' ? '<' : rest[0];
    rest.remove_prefix(1);
  }
  if (rest.empty()) reader.fail("the type " + shown + " is no NumPy type");
  header.kind = rest[0];
  rest.remove_prefix(1);
  if (header.kind == 'O')
    throw Unimplemented("the array holds Python objects (type " + shown + "); save it with a plain NumPy type");
  if (std::string_view("biufcSUV").find(header.kind) == std::string_view::npos)
    throw Unimplemented("NumPy's type " + shown + " has no tensor type; convert it to numbers or text first");
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), header.item_size);
  const bool is_number = error == std::errc() && end == rest.data() + rest.size();
  if (!is_number || header.item_size > (std::size_t{1} << 40)) reader.fail("the type " + shown + " is no NumPy type");
  if (header.kind == 'U') header.item_size *= 4;
}

NpyHeader parse_dictionary(std::string_view text) {
  NpyHeader header;
  Reader reader(text);
  bool has_type = false, has_order = false, has_shape = false;
  reader.expect('{');
  while (!reader.take('}')) {
    const std::string_view key = reader.string();
    reader.expect(':');
    if (key == "descr" && !has_type) {
      if (reader.is_next('[')) throw Unimplemented("the array holds records; save its fields one by one");
      set_type(header, reader.string(), reader);
      has_type = true;
    } else if (key == "fortran_order" && !has_order) {
      header.is_fortran_order = reader.boolean();
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      header.shape = reader.shape();
      has_shape = true;
    } else {
      reader.fail("the key " + string_literal(key) + " does not belong there");
    }
    if (!reader.take(',')) {
      reader.expect('}');
      break;
    }
  }
  reader.expect_end();
  if (!has_type || !has_order || !has_shape) reader.fail("descr, fortran_order or shape is missing");
  return header;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (file.substr(0, kMagic.size()) != kMagic.substr(0, file.size()) || file.empty())
    throw InvalidArgument("this is no .npy file: it does not begin with \\x93NUMPY");
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  const auto need = [&](std::size_t end) {
    if (file.size() < end)
      throw DataLoss("the file ends inside the .npy header: " + std::to_string(end) + " bytes are needed, it has " +
                     std::to_string(file.size()));
  };
  need(10);
  const std::size_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0)
    throw InvalidArgument("the .npy version must be 1.0, 2.0 or 3.0, got " + std::to_string(version) + "." +
                          std::to_string(byte(7)));
  std::size_t begin = 10, length = byte(8) | byte(9) << 8;
  if (version > 1) {
    need(begin = 12);
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > kMostLength)
    throw InvalidArgument("the .npy header claims to be " + std::to_string(length) + " bytes long; at most " +
                          std::to_string(kMostLength) + " are read");
  need(begin + length);
  NpyHeader header = parse_dictionary(file.substr(begin, length));
  header.bytes = begin + length;
  return header;
}

std::string npy_header(std::string_view type, const Shape& shape) {
  std::string dims;
  for (std::int64_t dim : shape.dims()) dims += (dims.empty() ? "" : " ") + std::to_string(dim) + ",";
  if (shape.rank() > 1) dims.pop_back();
  std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  const auto padded = [&](std::size_t prefix) {
    const std::size_t total = prefix + text.size() + 1;
    return text + std::string((kAlignment - total % kAlignment) % kAlignment, ' ') + "\n";
  };
  // A shape of 254 long dimensions fits into the 65535 characters of version 1.
  const std::string dictionary = padded(10);
  std::string header(kMagic);
  header += {1, 0, static_cast<char>(dictionary.size() & 0xff), static_cast<char>(dictionary.size() >> 8)};
  return header + dictionary;
}

}  // namespace capstan
