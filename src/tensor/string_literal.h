// Strings between quotes, as Python writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace capstan {

/// 'text', or "it's" where that saves escapes. UTF-8 stays as it is; line ends, control characters, invisible spaces
/// and bytes that are no UTF-8 are escaped.
std::string string_literal(std::string_view text);

/// Characters of UTF-8 text (each stray byte counts as one).
std::size_t count_characters(std::string_view text) noexcept;

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};
/// The first character of a text that is not empty.
Utf8Character first_character(std::string_view text) noexcept;
/// Appends a character; `code` is at most 0x10ffff.
void append_utf8(std::string& text, char32_t code);

}  // namespace capstan
