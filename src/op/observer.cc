#include "op/observer.h"

#include <utility>

namespace capstan {
namespace {

constinit thread_local OnlyOuterObservers* innermost_scope = nullptr;

}  // namespace

namespace detail {
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadState thread_state;
}

void ObserverList::push(Observer& observer) noexcept {
  observer.outer_ = thread_state().observers;
  thread_state().observers = &observer;
}

void ObserverList::unlink(Observer*& first, Observer& observer) noexcept {
  for (Observer** at = &first; *at; at = &(*at)->outer_) {
    if (*at != &observer) continue;
    *at = observer.outer_;
    return;
  }
}

void ObserverList::remove(Observer& observer) noexcept {
  unlink(thread_state().observers, observer);
  for (OnlyOuterObservers* scope = innermost_scope; scope; scope = scope->around_) {
    unlink(scope->all_, observer);
    if (scope->outer_ == &observer) scope->outer_ = observer.outer_;
  }
  observer.outer_ = nullptr;
}

bool ObserverList::contains(const Observer& observer) noexcept {
  const Observer* at = thread_state().observers;
  while (at && at != &observer) at = at->outer_;
  return at;
}

OnlyOuterObservers::OnlyOuterObservers(Observer* outer) noexcept
    : all_(thread_state().observers), outer_(outer), around_(std::exchange(innermost_scope, this)) {
  thread_state().observers = outer_;
}

OnlyOuterObservers::~OnlyOuterObservers() {
  innermost_scope = around_;
  Observer** at = &thread_state().observers;  // those that began meanwhile go on inside of all others
  while (*at != outer_) at = &(*at)->outer_;
  *at = all_;
}

void ObserverList::tell(const OpCall& call) { tell_from(thread_state().observers, call); }

void ObserverList::tell_from(Observer* observer, const OpCall& call) {
  if (!observer) return;
  if (observer->outer_) {
    tell_from(observer->outer_, call);  // outermost first; scopes do not nest deeply
    if (!contains(*observer)) return;   // it ended when one of them was told
  }
  observer->on_call(call);
}

}  // namespace capstan
