// Tracing is done by one thread at a time: functions and gradient rules may call each other in any order.
#pragma once

#include <mutex>

namespace capstan {

/// Held while a body is traced or a derivative is made, and by nobody who only runs.
std::recursive_mutex& tracing_mutex();

/// The value that `known` finds, made by `make` under the tracing mutex if there is none. `mutex` guards the place
/// where values are kept, and is not held while one is made.
template <class Find, class Make, class Keep>
auto& find_or_make(std::mutex& mutex, Find&& find, Make&& make, Keep&& keep) {
  {
    const std::lock_guard lock(mutex);
    if (auto* known = find()) return *known;
  }
  const std::lock_guard tracing(tracing_mutex());
  {
    const std::lock_guard lock(mutex);
    if (auto* known = find()) return *known;  // another thread was faster
  }
  auto made = make();
  const std::lock_guard lock(mutex);
  return *keep(std::move(made));
}

}  // namespace capstan
