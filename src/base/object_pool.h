// Recycles the memory of one small type: a list per thread, so that taking and giving back cost a few instructions.
// Objects may be given back on another thread than the one that took them. Sanitizer builds use plain new and delete so
// that a use after the end is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include "base/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAPSTAN_POOLS_OFF 1
#else
#define CAPSTAN_POOLS_OFF 0
#endif

namespace capstan {

template <class T>
class ObjectPool {
 public:
  /// Memory for one T, not constructed.
  static void* take() {
    Local& list = local();
    ++list.balance;
    if (CAPSTAN_POOLS_OFF) return ::operator new(sizeof(T), std::align_val_t{alignof(T)});
    if (!list.head) [[unlikely]] refill(list);
    Node* node = list.head;
    list.head = node->next;
    --list.count;
    return node;
  }

  /// Takes the memory back; the T in it has been destroyed.
  static void give_back(void* memory) noexcept {
    Local& list = local();
    --list.balance;
    if (CAPSTAN_POOLS_OFF) return ::operator delete(memory, std::align_val_t{alignof(T)});
    list.head = new (memory) Node{list.head};
    if (++list.count >= 2 * kBatch) [[unlikely]] spill(list);
  }

  /// Objects taken minus objects given back on this thread.
  static std::int64_t balance() noexcept { return local().balance; }

 private:
  struct Node {
    Node* next;
  };
  struct Local {
    Node* head = nullptr;
    std::uint32_t count = 0;
    bool has_exit_hook = false;
    std::int64_t balance = 0;
  };
  struct Shared {
    std::mutex mutex;
    Node* head = nullptr;
  };
  struct ExitHook {  // hands a dying thread's list to the others
    ~ExitHook() { give_all(local()); }
  };
  static constexpr std::uint32_t kBatch = 256;
  static constexpr std::size_t kStride = (sizeof(T) + alignof(T) - 1) / alignof(T) * alignof(T);

  static Local& local() noexcept {
    // Plain data without a destructor: usable in a thread's last moments, after its other locals are gone.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local Local list;
    return list;
  }
  // Never destroyed: threads may outlive main.
  static Shared& shared() {
    static Shared* const instance = new Shared;
    return *instance;
  }

  static void refill(Local& list) {
    hook_exit(list);
    std::lock_guard lock(shared().mutex);
    while (shared().head && list.count < kBatch) {
      Node* node = shared().head;
      shared().head = node->next;
      push(list, node);
    }
    if (list.head) return;
    auto* slab = static_cast<std::byte*>(memory::allocate(kStride * kBatch));
    for (std::uint32_t i = kBatch; i-- > 0;) push(list, new (slab + i * kStride) Node{nullptr});
  }
  static void spill(Local& list) noexcept {
    std::lock_guard lock(shared().mutex);
    while (list.count > kBatch) {
      Node* node = list.head;
      list.head = node->next;
      --list.count;
      node->next = shared().head;
      shared().head = node;
    }
  }
  static void give_all(Local& list) noexcept {
    std::lock_guard lock(shared().mutex);
    while (Node* node = list.head) {
      list.head = node->next;
      node->next = shared().head;
      shared().head = node;
    }
    list.count = 0;
  }
  static void hook_exit(Local& list) {
    if (list.has_exit_hook) return;
    list.has_exit_hook = true;
    static thread_local ExitHook hook;
    (void)hook;
  }
  static void push(Local& list, Node* node) noexcept {
    node->next = list.head;
    list.head = node;
    ++list.count;
  }
};

}  // namespace capstan
