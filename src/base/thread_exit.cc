#include "base/thread_exit.h"

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdlib>

extern "C" int __cxa_atexit(void (*call)(void*), void* argument, void* library);

namespace capstan {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadExitHook* first_hook = nullptr;

void run_hooks(void*) noexcept {
  while (ThreadExitHook* hook = first_hook) {
    first_hook = hook->next;
    hook->is_set = false;
    hook->run();
  }
}

// Asks the system for a call at the end of each thread; gone when the library is.
class ThreadEnd {
 public:
  ThreadEnd() noexcept : has_key_(pthread_key_create(&key_, run_hooks) == 0) {}
  ~ThreadEnd() {
    if (has_key_.exchange(false) && !is_process_ending()) pthread_key_delete(key_);
  }
  void arm() noexcept {
    if (has_key_.load(std::memory_order_relaxed)) pthread_setspecific(key_, this);
  }

 private:
  pthread_key_t key_{};
  std::atomic<bool> has_key_;
};

ThreadEnd& thread_end() {
  static ThreadEnd instance;
  return instance;
}

// Learns of the end of the process. A handler that belongs to no library runs at exit but not when a library is
// unloaded; since this library may be gone by then, the handler is a function of the C library, and what it changes is
// never freed. Its address serves as the name of a library that nobody unloads.
class ProcessEnd {
 public:
  ProcessEnd() noexcept {
    thread_end();
    auto* fresh = static_cast<sem_t*>(std::malloc(sizeof(sem_t)));
    if (!fresh || sem_init(fresh, 0, 0) != 0) return;
    if (__cxa_atexit(reinterpret_cast<void (*)(void*)>(reinterpret_cast<void*>(&sem_post)), fresh, fresh) == 0)
      flag_ = fresh;
  }
  bool has_come() const noexcept {
    int value = 0;
    return flag_ && sem_getvalue(flag_, &value) == 0 && value > 0;
  }

 private:
  sem_t* flag_ = nullptr;
};
ProcessEnd process_end;

}  // namespace

void call_at_thread_exit(ThreadExitHook& hook) noexcept {
  if (hook.is_set) return;
  hook.is_set = true;
  hook.next = first_hook;
  first_hook = &hook;
  thread_end().arm();
}

bool is_process_ending() noexcept { return process_end.has_come(); }

}  // namespace capstan
