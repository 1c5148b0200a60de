// What tests of errors share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "capstan/base/error.h"

namespace capstan {

/// The message of the error of type E that `call` throws.
template <class E, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace capstan
