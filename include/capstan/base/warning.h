// Warnings. The library prints nothing; what a user should know goes to a hook, which is silent until one is set.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace capstan {

using WarningHook = std::function<void(std::string_view message)>;

/// Sets the hook that receives warnings and returns the one before. An empty hook means silence. The hook may be called
/// from any thread, from several at once, and for a moment after another one was set; it may warn and set hooks itself.
WarningHook set_warning_hook(WarningHook hook);

/// Hands a warning to the hook.
void warn(std::string_view message);

}  // namespace capstan
