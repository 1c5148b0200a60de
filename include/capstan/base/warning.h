// Warnings. The library prints nothing; what a user should know goes to a hook, which is silent until one is set.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace capstan {

using WarningHook = std::function<void(std::string_view message)>;

/// Sets the hook that receives warnings and returns the one before. An empty hook means silence. The hook may be called
/// from any thread, one call at a time.
WarningHook set_warning_hook(WarningHook hook);

/// Hands a warning to the hook.
void warn(std::string_view message);

}  // namespace capstan
