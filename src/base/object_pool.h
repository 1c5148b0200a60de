// Recycles the memory of one small type: a list per thread, so that taking and giving back cost a few instructions.
// Objects may be given back on another thread than the one that took them. Sanitizer builds use plain new and delete so
// that a use after the end is seen.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "base/memory.h"
#include "base/thread_exit.h"

namespace capstan {

// Hidden, since a template's exported statics are shared by all libraries of the process, which keeps ours from being
// unloaded.
template <class T>
class [[gnu::visibility("hidden")]] ObjectPool {
 public:
  /// Memory for one T, not constructed.
  static void* take() {
    Local& list = local();
    ++list.balance;
    if (CAPSTAN_POOLS_OFF) return ::operator new (sizeof(T), std::align_val_t{alignof(T)});
    if (!list.head) [[unlikely]]
      refill(list);
    Node* node = list.head;
    list.head = node->next;
    --list.count;
    return node;
  }

  /// Takes the memory back; the T in it has been destroyed.
  static void give_back(void* memory) noexcept {
    Local& list = local();
    --list.balance;
    if (CAPSTAN_POOLS_OFF) return ::operator delete (memory, std::align_val_t{alignof(T)});
    list.head = new (memory) Node{list.head};
    if (++list.count >= 2 * kBatch) [[unlikely]]
      spill(list);
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
    std::uint32_t limit = 1;  // 2 * kBatch once the list is known to `Shared`
    std::int64_t balance = 0;
    ThreadExitHook exit_hook{retire};
    Local* previous = nullptr;  // among the living threads' lists
    Local* following = nullptr;
  };
  struct Shared {
    std::mutex mutex;
    Node* head = nullptr;
    Local* living = nullptr;
    std::int64_t balance_elsewhere = 0;  // of threads that ended
    memory::PartsPool record{count_in_use};
  };
  static constexpr std::uint32_t kBatch = 256;
  static constexpr std::size_t kStride = (sizeof(T) + alignof(T) - 1) / alignof(T) * alignof(T);

  static Local& local() noexcept {
    // Plain data without a destructor: usable in a thread's last moments, after its other locals are gone.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local Local list;
    return list;
  }
  static Shared& shared() noexcept {
    // Never destroyed: threads may outlive main.
    union Forever {
      constexpr Forever() : value() {}
      constexpr ~Forever() {}
      Shared value;
    };
    static constinit Forever instance;
    return instance.value;
  }

  /// Registered when the library is loaded, after the handlers of base/memory.cc: their mutex is the inner one.
  struct ForkHandlers {
    ForkHandlers() {
      pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); }, [] { forget_threads(); });
    }
  };
  inline static const ForkHandlers fork_handlers;

  /// In the child of a fork only the forking thread lives: the lists of the others count, and are forgotten. What was
  /// in them is lost to the child, for nobody knows what their threads were doing to them.
  static void forget_threads() noexcept {
    Local& own = local();
    for (Local* list = shared().living; list; list = list->following)
      if (list != &own) shared().balance_elsewhere += list->balance;
    shared().living = own.limit != 1 ? &own : nullptr;
    own.previous = own.following = nullptr;
    shared().mutex.unlock();
  }

  static void refill(Local & list) {
    static_cast<void>(fork_handlers);  // a static member that nobody names is not made
    std::lock_guard lock(shared().mutex);
    introduce(list);
    while (shared().head && list.count < kBatch) {
      Node* node = shared().head;
      shared().head = node->next;
      push(list, node);
    }
    if (list.head) return;
    auto* slab = static_cast<std::byte*>(memory::allocate_for(shared().record, kStride * kBatch));
    for (std::uint32_t i = kBatch; i-- > 0;) push(list, new (slab + i * kStride) Node{nullptr});
  }
  static void spill(Local & list) noexcept {
    std::lock_guard lock(shared().mutex);
    introduce(list);
    if (list.count >= list.limit) give(list, kBatch);
  }
  /// Hands nodes to the other threads until `keep` are left.
  static void give(Local & list, std::uint32_t keep) noexcept {
    for (; list.count > keep; --list.count) {
      Node* node = list.head;
      list.head = node->next;
      node->next = shared().head;
      shared().head = node;
    }
  }
  static void introduce(Local & list) noexcept {
    if (list.limit != 1) return;
    list.limit = 2 * kBatch;
    list.previous = nullptr;
    list.following = shared().living;
    if (list.following) list.following->previous = &list;
    shared().living = &list;
    call_at_thread_exit(list.exit_hook);
  }
  /// The thread ends: its list goes to the others.
  static void retire() noexcept {
    Local& list = local();
    std::lock_guard lock(shared().mutex);
    give(list, 0);
    shared().balance_elsewhere += std::exchange(list.balance, 0);
    (list.previous ? list.previous->following : shared().living) = list.following;
    if (list.following) list.following->previous = list.previous;
    list.limit = 1;
  }
  /// Called while no other thread is in the library.
  static std::int64_t count_in_use() noexcept {
    std::int64_t sum = shared().balance_elsewhere;
    for (const Local* list = shared().living; list; list = list->following) sum += list->balance;
    return sum;
  }
  static void push(Local & list, Node * node) noexcept {
    node->next = list.head;
    list.head = node;
    ++list.count;
  }
};

}  // namespace capstan
