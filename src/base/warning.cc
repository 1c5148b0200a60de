#include "capstan/base/warning.h"

#include <mutex>
#include <utility>

namespace capstan {
namespace {

struct Hook {
  std::mutex mutex;
  WarningHook call;
};

// Never destroyed: another thread may warn while the process ends.
Hook& hook() {
  static Hook* const instance = new Hook;
  return *instance;
}

}  // namespace

WarningHook set_warning_hook(WarningHook call) {
  std::lock_guard lock(hook().mutex);
  return std::exchange(hook().call, std::move(call));
}

void warn(std::string_view message) {
  std::lock_guard lock(hook().mutex);
  if (hook().call) hook().call(message);
}

}  // namespace capstan
