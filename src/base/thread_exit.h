// What to do when a thread or the process ends. C++'s own `thread_local` destructors would keep the library loaded for
// as long as the thread lives; these hooks do not.
#pragma once

namespace capstan {

/// A function to call on this thread when it ends. Plain data: put it into a `thread_local` without a destructor. The
/// main thread's hooks do not run when the process ends.
struct ThreadExitHook {
  void (*run)() noexcept;
  bool is_set = false;
  ThreadExitHook* next = nullptr;
};

/// Sets the hook, once: when it has run it can be set again, from a later destructor of the same thread too.
void call_at_thread_exit(ThreadExitHook& hook) noexcept;

/// In destructors of the library's static objects: is the process ending, rather than the library being unloaded? Then
/// other threads may still be at work, and memory need not be given back.
bool is_process_ending() noexcept;

}  // namespace capstan
