#include "wire/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "capstan/base/error.h"

namespace capstan::wire {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '+';
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '"':
      out += "\\\"";
      return;
    case '\'':
      out += "\\'";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte >= 0x7f)
    out += fmt::format("\\{:03o}", byte);
  else
    out += c;
}

}  // namespace

void TextReader::fail(std::string_view what) const {
  const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  throw DataLoss(fmt::format("{}: line {}: {}", message_name_, line, what));
}

void TextReader::skip_blank() {
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ';')
      ++at_;
    else
      return;
  }
}

std::string_view TextReader::take_word() {
  const std::size_t begin = at_;
  while (!at_end() && is_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view TextReader::next_field() {
  skip_blank();
  if (at_end()) return {};
  const std::string_view name = take_word();
  if (name.empty()) fail(fmt::format("a field name is expected, got '{}'", text_[at_]));
  skip_blank();
  if (peek() != ':') fail(fmt::format("':' is expected after '{}'", name));
  ++at_;
  skip_blank();
  return name;
}

std::string TextReader::take_string() {
  if (peek() != '"' && peek() != '\'') fail("a quoted string is expected");
  std::string value;
  while (peek() == '"' || peek() == '\'') {
    take_quoted(value);
    skip_blank();
  }
  return value;
}

void TextReader::take_quoted(std::string& out) {
  const char quote = text_[at_++];
  while (peek() != quote || at_end()) {
    if (at_end() || peek() == '\n') fail("the string has no closing quote");
    if (peek() == '\\')
      take_escape(out);
    else
      out += text_[at_++];
  }
  ++at_;
}

void TextReader::take_escape(std::string& out) {
  ++at_;
  const char c = peek();
  if (c >= '0' && c <= '7') {
    out += static_cast<char>(take_digits(8, 3));
    return;
  }
  ++at_;
  constexpr std::string_view kLetters = "abfnrtv\\'\"?";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"?";
  const std::size_t known = kLetters.find(c);
  if (at_ <= text_.size() && known != std::string_view::npos)
    out += kMeanings[known];
  else if (c == 'x' && digit_value(peek()) < 16)
    out += static_cast<char>(take_digits(16, 2));
  else
    fail("the string has an escape that is not known");
}

unsigned TextReader::take_digits(unsigned base, int most) {
  unsigned value = 0;
  for (int i = 0; i < most && digit_value(peek()) < static_cast<int>(base); ++i)
    value = value * base + static_cast<unsigned>(digit_value(text_[at_++]));
  return value;
}

double TextReader::take_double() {
  const std::string_view word = take_word();
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size())
    fail(fmt::format("a number is expected, got '{}'", word));
  return value;
}

std::string text_of(std::string_view value) {
  std::string out = "\"";
  for (char c : value) append_escaped(out, c);
  return out + '"';
}

std::string text_of(double value) {
  std::string text = fmt::format("{}", value);
  const bool is_integer = text.find_first_not_of("-0123456789") == std::string::npos;
  return is_integer ? text + ".0" : text;
}

}  // namespace capstan::wire
