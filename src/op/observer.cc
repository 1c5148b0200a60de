#include "op/observer.h"

namespace capstan {

namespace detail {
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState thread_state;
}

void ObserverList::push(Observer& observer) noexcept {
  observer.outer_ = thread_state().observers;
  thread_state().observers = &observer;
}

void ObserverList::remove(Observer& observer) noexcept {
  for (Observer** at = &thread_state().observers; *at; at = &(*at)->outer_) {
    if (*at != &observer) continue;
    *at = observer.outer_;
    observer.outer_ = nullptr;
    return;
  }
}

void ObserverList::tell(const OpCall& call) { tell_from(thread_state().observers, call); }

void ObserverList::tell_from(Observer* observer, const OpCall& call) {
  if (!observer) return;
  tell_from(observer->outer_, call);  // outermost first; scopes do not nest deeply
  observer->on_call(call);
}

}  // namespace capstan
