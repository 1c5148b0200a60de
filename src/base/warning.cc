#include "capstan/base/warning.h"

#include <memory>
#include <mutex>
#include <utility>

namespace capstan {
namespace {

struct Hook {
  std::mutex mutex;
  std::shared_ptr<const WarningHook> call;
};

// Never destroyed: another thread may warn while the process ends.
Hook& hook() {
  static Hook* const instance = new Hook;
  return *instance;
}

}  // namespace

WarningHook set_warning_hook(WarningHook call) {
  auto next = std::make_shared<const WarningHook>(std::move(call));
  {
    const std::lock_guard lock(hook().mutex);
    std::swap(hook().call, next);
  }
  return next ? *next : WarningHook();
}

// The hook is called without the lock: it may warn itself, or set another one.
void warn(std::string_view message) {
  std::shared_ptr<const WarningHook> call;
  {
    const std::lock_guard lock(hook().mutex);
    call = hook().call;
  }
  if (call && *call) (*call)(message);
}

}  // namespace capstan
