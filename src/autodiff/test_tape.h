// Short forms for the tests of the tape.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capstan/capstan.h"

namespace capstan {

inline Tensor scalar(float value) { return constant(value); }
inline std::vector<float> floats(const Tensor& tensor) { return tensor.to_vector<float>(); }

/// A gradient's elements; fails if there is none.
inline std::vector<float> floats(const Gradient& gradient) {
  if (!gradient.has_value()) {
    ADD_FAILURE() << gradient.reason();
    return {};
  }
  return floats(gradient.tensor());
}

inline void expect_near(const std::vector<float>& got, const std::vector<float>& expected, double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i;
    else
      EXPECT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}
inline void expect_near(const Gradient& got, const std::vector<float>& expected, double tolerance = 1e-5) {
  expect_near(floats(got), expected, tolerance);
}
inline void expect_value(const Gradient& got, float expected) { expect_near(floats(got), {expected}); }
inline void expect_none(const Gradient& got) { EXPECT_FALSE(got.has_value()) << got; }

/// The gradient of f at x.
template <class Function>
Gradient slope(const Function& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}

/// What the function throws must be an `Exception` whose message has all of `mentions`.
template <class Exception, class Function>
void expect_error(Function&& function, std::initializer_list<const char*> mentions = {}) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Exception& error) {
    for (const char* each : mentions)
      EXPECT_NE(std::string(error.what()).find(each), std::string::npos) << "no '" << each << "' in: " << error.what();
  }
}

/// Collects warnings while it lives.
class WarningsSeen {
 public:
  WarningsSeen() : before_(set_warning_hook([this](std::string_view text) { all.emplace_back(text); })) {}
  ~WarningsSeen() { set_warning_hook(before_); }
  std::vector<std::string> all;

 private:
  WarningHook before_;
};

}  // namespace capstan
