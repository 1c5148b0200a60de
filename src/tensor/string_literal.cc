#include "tensor/string_literal.h"

#include <fmt/format.h>

namespace capstan {
namespace {

bool is_printable(char32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad) return false;
  const bool is_space = c == 0x1680 || (c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) ||
                        (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0xfeff;
  const bool is_private = (c >= 0xe000 && c <= 0xf8ff) || c >= 0xe0000 || (c & 0xfffe) == 0xfffe;
  return !is_space && !is_private;
}

std::string escape(char32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\\':
      return "\\\\";
  }
  const auto number = static_cast<std::uint32_t>(c);
  return c < 0x100     ? fmt::format("\\x{:02x}", number)
         : c < 0x10000 ? fmt::format("\\u{:04x}", number)
                       : fmt::format("\\U{:08x}", number);
}

}  // namespace

Utf8Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {lead, 1, false};
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool is_overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (is_overlong || is_surrogate || code > 0x10ffff) return {lead, 1, false};
  return {code, bytes, true};
}

void append_utf8(std::string& text, char32_t code) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  add(((0xff00u >> (tails + 1)) & 0xffu) | code >> (6 * tails));
  for (int i = tails; i-- > 0;) add(0x80u | (code >> (6 * i) & 0x3fu));
}

std::size_t count_characters(std::string_view text) noexcept {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(first_character(text).bytes);
  return count;
}

std::string string_literal(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string literal(1, quote);
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.is_valid && c.code == static_cast<unsigned char>(quote))
      literal += {'\\', quote};
    else if (c.is_valid && is_printable(c.code) && c.code != '\\')
      literal += text.substr(0, c.bytes);
    else
      literal += escape(c.code);
    text.remove_prefix(c.bytes);
  }
  return literal + quote;
}

}  // namespace capstan
