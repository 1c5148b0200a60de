// Floating-point numbers as the shortest text that reads back to the same number of the same type.
#pragma once

#include <string>

#include "capstan/tensor/dtype.h"

namespace capstan {

/// A decimal number: its first digit stands before the point, and 10 to the `exponent` multiplies it. No zeros at the
/// end; zero is the digit 0.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  int exponent = 0;
};

/// The fewest digits that tell a finite number from its neighbours in its type.
Decimal shortest_decimal(double value);
Decimal shortest_decimal(float value);
Decimal shortest_decimal(float16 value);
Decimal shortest_decimal(bfloat16 value);

/// "-12.5", "3.": all digits, and always a point. Digits after the point that exceed `precision` are rounded away.
template <class T>
std::string positional_text(T value, int precision);
/// "-1.25e+01", "3.e+00": the exponent has at least two digits; `precision` counts the digits after the point.
template <class T>
std::string scientific_text(T value, int precision);

/// The same with exactly `precision` digits after the point; those beyond the shortest are the exact value's.
template <class T>
std::string padded_scientific_text(T value, int precision);

/// As one number is printed alone: "1.0", "0.1", "1e+16", "nan". With `is_part`, as in a complex number: "1", not
/// "1.0".
template <class T>
std::string scalar_text(T value, bool is_part = false);

/// From this magnitude on NumPy writes the elements of an array, or a number alone, with an exponent.
template <class T>
constexpr double exponent_from(bool is_scalar) {
  if constexpr (sizeof(T) == 2)
    return 1e3;
  else if constexpr (sizeof(T) == 4)
    return 1e6;
  else
    return is_scalar ? 1e16 : 1e8;
}

}  // namespace capstan
