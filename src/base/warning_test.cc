#include "capstan/base/warning.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace capstan {
namespace {

TEST(Warning, AHookMayWarnAndReplaceItself) {
  std::vector<std::string> heard;
  const WarningHook before = set_warning_hook([&](std::string_view message) {
    heard.emplace_back(message);
    if (message == "outer") warn("inner");
    if (message == "inner")
      set_warning_hook([&](std::string_view later) { heard.push_back("new: " + std::string(later)); });
  });
  warn("outer");
  warn("last");
  set_warning_hook(before);
  EXPECT_EQ(heard, (std::vector<std::string>{"outer", "inner", "new: last"}));
}

TEST(Warning, HooksChangeWhileOthersWarn) {
  const WarningHook before = set_warning_hook({});
  std::thread other([] {
    for (int i = 0; i < 1000; ++i) warn("text");
  });
  for (int i = 0; i < 1000; ++i) set_warning_hook([text = std::string(100, 'x')](std::string_view) { return text; });
  other.join();
  set_warning_hook(before);
}

}  // namespace
}  // namespace capstan
