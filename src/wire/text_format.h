// Protobuf's text format, as far as flat messages need it: `name: value` pairs, quoted strings, numbers, comments.
#pragma once

#include <string>
#include <string_view>

namespace capstan::wire {

/// Walks over the fields of a text. Errors are DataLoss with the line number.
class TextReader {
 public:
  TextReader(std::string_view text, std::string_view message_name) : text_(text), message_name_(message_name) {}

  /// The next field's name; empty at the end of the text. Its value has to be taken before the next call.
  std::string_view next_field();
  /// Takes a quoted string; adjacent ones are one.
  std::string take_string();
  double take_double();
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void skip_blank();
  std::string_view take_word();
  void take_quoted(std::string& out);
  void take_escape(std::string& out);
  unsigned take_digits(unsigned base, int most);
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  std::string_view text_;
  std::string_view message_name_;
  std::size_t at_ = 0;
};

/// A string with quotes and escapes; a number that reads back as the same double.
std::string text_of(std::string_view value);
std::string text_of(double value);

}  // namespace capstan::wire
