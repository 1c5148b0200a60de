#include "tensor/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace capstan {
namespace {

constexpr int kAllDigits = 2000;  // more than any double has

/// Reads the "d.ddde±xx" that std::to_chars writes.
Decimal parse_scientific(std::string_view text) {
  Decimal number;
  number.is_negative = text.front() == '-';
  if (number.is_negative) text.remove_prefix(1);
  const auto e = text.find('e');
  for (char c : text.substr(0, e))
    if (c != '.') number.digits += c;
  auto exponent = text.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), number.exponent);
  while (number.digits.size() > 1 && number.digits.back() == '0') number.digits.pop_back();
  return number;
}

template <class Real, class... Precision>
Decimal written_by_library(Real value, Precision... precision) {
  std::array<char, 1100> text;
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific, precision...).ptr;
  return parse_scientific({text.data(), end});
}

double value_of(const Decimal& number) {
  const std::string text = (number.is_negative ? "-" : "") + number.digits.substr(0, 1) + "." +
                           number.digits.substr(1) + "e" + std::to_string(number.exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The number one unit of its last digit further from zero.
Decimal next_away(Decimal number) {
  for (std::size_t i = number.digits.size(); i-- > 0;) {
    if (++number.digits[i] <= '9') return number;
    number.digits[i] = '0';
  }
  number.digits.insert(0, "1");
  number.digits.pop_back();
  ++number.exponent;
  return number;
}

// Types that the standard library does not know: more and more digits until the number reads back. Below a power of two
// the numbers lie denser than above, so that the nearest short decimal may miss where the next one away from zero hits.
template <class Half>
Decimal shortest_by_trial(Half half) {
  const double exact = static_cast<float>(half);
  const auto reads_back = [&](const Decimal& d) { return Half(static_cast<float>(value_of(d))).bits == half.bits; };
  for (int digits = 0;; ++digits) {
    Decimal number = written_by_library(exact, digits);
    if (reads_back(number) || digits > 8) return number;
    number.digits.resize(static_cast<std::size_t>(digits) + 1, '0');
    if (std::abs(value_of(number)) > std::abs(exact)) continue;
    number = next_away(number);
    if (reads_back(number)) return number;
  }
}

std::string text_of(const Decimal& number) {
  const int size = std::abs(number.exponent);
  return (number.is_negative ? "-" : "") + number.digits.substr(0, 1) + "." + number.digits.substr(1) + "e" +
         (number.exponent < 0 ? "-" : "+") + (size < 10 ? "0" : "") + std::to_string(size);
}

std::string with_point(const std::string& digits, int before_point) {
  const int count = static_cast<int>(digits.size());
  if (before_point <= 0) return "0." + std::string(static_cast<std::size_t>(-before_point), '0') + digits;
  if (before_point >= count) return digits + std::string(static_cast<std::size_t>(before_point - count), '0') + ".";
  return digits.substr(0, static_cast<std::size_t>(before_point)) + "." +
         digits.substr(static_cast<std::size_t>(before_point));
}

std::string fixed_text(double value, int precision) {
  std::array<char, 400> text;
  std::string fixed(text.data(),
                    std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, precision).ptr);
  while (fixed.back() == '0') fixed.pop_back();
  return fixed;
}

}  // namespace

Decimal shortest_decimal(double value) { return written_by_library(value); }
Decimal shortest_decimal(float value) { return written_by_library(value); }
Decimal shortest_decimal(float16 value) { return shortest_by_trial(value); }
Decimal shortest_decimal(bfloat16 value) { return shortest_by_trial(value); }

template <class T>
std::string positional_text(T value, int precision) {
  const Decimal number = shortest_decimal(value);
  if (static_cast<int>(number.digits.size()) - 1 - number.exponent > precision)
    return fixed_text(static_cast<double>(value), precision);
  const bool is_zero = number.digits == "0";
  const std::string text = is_zero ? "0." : with_point(number.digits, number.exponent + 1);
  return (number.is_negative ? "-" : "") + text;
}

template <class T>
std::string scientific_text(T value, int precision) {
  Decimal number = shortest_decimal(value);
  if (static_cast<int>(number.digits.size()) - 1 > precision)
    number = written_by_library(static_cast<double>(value), precision);
  return text_of(number);
}

template <class T>
std::string padded_scientific_text(T value, int precision) {
  const auto digits = static_cast<std::size_t>(precision) + 1;
  Decimal number = shortest_decimal(value);
  if (number.digits.size() != digits) number = written_by_library(static_cast<double>(value), precision);
  number.digits.resize(digits, '0');
  return text_of(number);
}

template <class T>
std::string scalar_text(T value, bool is_part) {
  const double number = static_cast<double>(value);
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  const double size = std::abs(number);
  if (size != 0 && (size < 1e-4 || size >= exponent_from<T>(true))) {
    std::string text = scientific_text(value, kAllDigits);
    if (const auto bare_point = text.find(".e"); bare_point != std::string::npos) text.erase(bare_point, 1);
    return text;
  }
  std::string text = positional_text(value, kAllDigits);
  if (text.back() != '.') return text;
  if (is_part)
    text.pop_back();
  else
    text += '0';
  return text;
}

template std::string positional_text(double, int);
template std::string positional_text(float, int);
template std::string positional_text(float16, int);
template std::string positional_text(bfloat16, int);
template std::string scientific_text(double, int);
template std::string padded_scientific_text(double, int);
template std::string scientific_text(float, int);
template std::string padded_scientific_text(float, int);
template std::string scientific_text(float16, int);
template std::string padded_scientific_text(float16, int);
template std::string scientific_text(bfloat16, int);
template std::string padded_scientific_text(bfloat16, int);
template std::string scalar_text(double, bool);
template std::string scalar_text(float, bool);
template std::string scalar_text(float16, bool);
template std::string scalar_text(bfloat16, bool);

}  // namespace capstan
