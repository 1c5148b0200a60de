#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "base/pool_task.h"
#include "base/thread_exit.h"
#include "capstan/base/error.h"

namespace capstan {
namespace {

constexpr int kMaxThreads = 1024;
constexpr auto kSpinTime =
    std::chrono::microseconds(40);  // a worker looks for the next region that long before it sleeps
constexpr int kSpinsBeforeYield = 200;

[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside_region = false;

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word, int threads) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

int processors_allowed() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const auto all = static_cast<int>(std::thread::hardware_concurrency());  // more processors than a cpu_set_t holds
  return all > 0 ? all : 1;
}

int initial_thread_count() {
  const char* text = std::getenv("CAPSTAN_NUM_THREADS");
  if (!text || !*text) return std::min(processors_allowed(), kMaxThreads);
  int n = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, n);
  if (error != std::errc() || stop != end || n < 1 || n > kMaxThreads)
    throw InvalidArgument("CAPSTAN_NUM_THREADS must be a number from 1 to " + std::to_string(kMaxThreads) + ", got '" +
                          text + "'; correct or unset the environment variable");
  return n;
}

/// One call of parallel_for. It lives on the caller's stack; workers see it only while they are counted in the gate.
struct Region {
  std::int64_t blocks;
  detail::BlockFunction call;
  void* context;
  alignas(64) std::atomic<std::int64_t> next{0};
  std::atomic<bool> has_failed{false};
  std::exception_ptr error;

  void work() noexcept {
    for (;;) {
      const std::int64_t block = next.fetch_add(1, std::memory_order_relaxed);
      if (block >= blocks) return;
      try {
        call(context, block);
      } catch (...) {
        if (!has_failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
        next.store(blocks, std::memory_order_relaxed);
      }
    }
  }
};

// Nothing in the pool has a destructor: threads of the host may still use it while the process ends.
class Pool {
 public:
  int thread_count();
  void set_thread_count(int n);
  int worker_count() const noexcept { return workers_.load(std::memory_order_relaxed); }
  bool run(std::int64_t blocks, detail::BlockFunction call, void* context);
  bool post(PoolTask& task);
  bool withdraw(PoolTask& task) noexcept;
  void shut_down() noexcept;
  void lock_for_fork() noexcept { task_mutex_.lock(); }
  void unlock_after_fork() noexcept { task_mutex_.unlock(); }
  void forget_threads() noexcept;

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;

  bool try_occupy() noexcept { return !is_occupied_.exchange(true, std::memory_order_acquire); }
  void vacate() noexcept { is_occupied_.store(false, std::memory_order_release); }
  void fit_workers(int wanted) noexcept;
  void start_workers(int wanted) noexcept;
  bool start_worker() noexcept;
  void stop_workers_above(int wanted) noexcept;
  void announce(int workers) noexcept;
  void close_and_wait() noexcept;
  void try_join() noexcept;
  PoolTask* next_task() noexcept;
  void worker_loop(int index) noexcept;
  std::uint32_t wait_for_change(std::uint32_t seen) noexcept;
  static void* worker_main(void* index) noexcept;

  std::atomic<int> wanted_{0};  // threads, the caller's included; 0: nobody asked yet
  std::atomic<int> workers_{0};
  std::atomic<int> keep_{0};  // workers with this index or a higher one end
  // Held by the caller whose region runs, and for starting and stopping workers.
  alignas(64) std::atomic<bool> is_occupied_{false};
  Region* region_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> gate_{0};   // kOpen: workers may enter; below it the number of those inside
  alignas(64) std::atomic<std::uint32_t> epoch_{0};  // changes when there is something new to see
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<int> running_tasks_{0};
  std::mutex task_mutex_;
  PoolTask* first_task_ = nullptr;
  PoolTask* last_task_ = nullptr;
  pthread_t threads_[kMaxThreads] = {};
};

constinit Pool pool;

int Pool::thread_count() {
  const int n = wanted_.load(std::memory_order_relaxed);
  if (n) [[likely]]
    return n;
  int none = 0;
  const int initial = initial_thread_count();
  return wanted_.compare_exchange_strong(none, initial, std::memory_order_relaxed) ? initial : none;
}

void Pool::set_thread_count(int n) {
  if (n < 1 || n > kMaxThreads)
    throw InvalidArgument("set_thread_count: the number must be from 1 to " + std::to_string(kMaxThreads) + ", got " +
                          std::to_string(n));
  wanted_.store(n, std::memory_order_relaxed);
  if (is_inside_region) return;  // on a worker, which cannot wait for its own end; the next region fits their number
  if (!try_occupy()) return;     // the running region will stop the superfluous workers when it ends
  stop_workers_above(n - 1);
  vacate();
}

bool Pool::run(std::int64_t blocks, detail::BlockFunction call, void* context) {
  if (is_inside_region) return false;
  const int threads = thread_count();
  if (threads == 1 || !try_occupy()) return false;
  fit_workers(threads - 1);
  const int workers = worker_count();
  Region region{.blocks = blocks, .call = call, .context = context, .next = 0, .has_failed = false, .error = nullptr};
  region_ = &region;
  gate_.store(kOpen, std::memory_order_release);
  announce(static_cast<int>(std::min<std::int64_t>(workers, blocks - 1)));
  is_inside_region = true;
  region.work();
  is_inside_region = false;
  close_and_wait();
  stop_workers_above(wanted_.load(std::memory_order_relaxed) - 1);
  vacate();
  if (region.error) std::rethrow_exception(region.error);
  return true;
}

void Pool::announce(int workers) noexcept {
  // The order of these two against the sleeper's own pair (count, then check the epoch in the futex) loses no wake-up.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst)) futex_wake(epoch_, workers);
}

void Pool::close_and_wait() noexcept {
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  // A worker that lost its processor can be waited for only by giving ours up.
  for (int spins = 0; gate_.load(std::memory_order_acquire); ++spins) {
    if (spins < kSpinsBeforeYield)
      relax();
    else
      sched_yield();
  }
}

void Pool::try_join() noexcept {
  std::uint32_t gate = gate_.load(std::memory_order_relaxed);
  while (gate & kOpen) {
    if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed)) continue;
    region_->work();
    gate_.fetch_sub(1, std::memory_order_release);
    return;
  }
}

std::uint32_t Pool::wait_for_change(std::uint32_t seen) noexcept {
  const auto is_news = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
  const auto begin = std::chrono::steady_clock::now();
  for (int spins = 0; !is_news(); ++spins) {
    relax();
    if (spins % 16 != 15) continue;
    if (spins > kSpinsBeforeYield) sched_yield();
    if (std::chrono::steady_clock::now() - begin > kSpinTime) break;
  }
  while (!is_news()) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    futex_wait(epoch_, seen);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return epoch_.load(std::memory_order_acquire);
}

bool Pool::post(PoolTask& task) {
  const int threads = thread_count();
  if (threads == 1) return false;
  if (try_occupy()) {  // else a region runs, which has started them
    start_workers(threads - 1);
    vacate();
  }
  {
    const std::lock_guard lock(task_mutex_);
    task.next = nullptr;
    (last_task_ ? last_task_->next : first_task_) = &task;
    last_task_ = &task;
  }
  announce(1);
  return true;
}

bool Pool::withdraw(PoolTask& task) noexcept {
  const std::lock_guard lock(task_mutex_);
  PoolTask* before = nullptr;
  for (PoolTask* at = first_task_; at; before = at, at = at->next) {
    if (at != &task) continue;
    (before ? before->next : first_task_) = task.next;
    if (last_task_ == &task) last_task_ = before;
    return true;
  }
  return false;
}

PoolTask* Pool::next_task() noexcept {
  const std::lock_guard lock(task_mutex_);
  PoolTask* task = first_task_;
  if (!task) return nullptr;
  first_task_ = task->next;
  if (!first_task_) last_task_ = nullptr;
  running_tasks_.fetch_add(1, std::memory_order_relaxed);
  return task;
}

void Pool::worker_loop(int index) noexcept {
  is_inside_region = true;  // whatever a worker runs is part of a region
  for (std::uint32_t seen = epoch_.load(std::memory_order_acquire);; seen = wait_for_change(seen)) {
    if (index >= keep_.load(std::memory_order_acquire)) return;
    try_join();
    while (PoolTask* task = next_task()) {
      task->run();
      running_tasks_.fetch_sub(1, std::memory_order_release);
      if (index >= keep_.load(std::memory_order_acquire)) return;
      try_join();  // a region goes before the next task
    }
  }
}

void* Pool::worker_main(void* index) noexcept {
  pool.worker_loop(static_cast<int>(reinterpret_cast<std::intptr_t>(index)));
  return nullptr;
}

void Pool::fit_workers(int wanted) noexcept {
  stop_workers_above(wanted);
  start_workers(wanted);
}

void Pool::start_workers(int wanted) noexcept {
  // If the system refuses more threads, those that exist do the work; the next region tries again.
  while (worker_count() < wanted && start_worker()) {
  }
}

bool Pool::start_worker() noexcept {
  const int index = worker_count();
  keep_.store(index + 1, std::memory_order_release);
  sigset_t all, before;  // the host's signals are for the host's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error =
      pthread_create(&threads_[index], nullptr, worker_main, reinterpret_cast<void*>(std::intptr_t{index}));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) return false;
  pthread_setname_np(threads_[index], "capstan");
  workers_.store(index + 1, std::memory_order_relaxed);
  return true;
}

void Pool::stop_workers_above(int wanted) noexcept {
  const int count = worker_count();
  if (count <= wanted) return;
  keep_.store(wanted, std::memory_order_release);
  announce(INT_MAX);
  for (int i = wanted; i < count; ++i) pthread_join(threads_[i], nullptr);
  workers_.store(wanted, std::memory_order_relaxed);
}

// Runs at exit and when the library is unloaded. If the pool is occupied, the process is ending under a thread that is
// still at work: nobody waits for it. Otherwise the pool stays occupied, and whatever comes later runs on its caller.
// The same holds for a task that is at work while the process ends.
void Pool::shut_down() noexcept {
  if (!try_occupy()) return;
  if (is_process_ending() && running_tasks_.load(std::memory_order_acquire)) return;
  stop_workers_above(0);
}

// In the child of a fork only the forking thread lives.
void Pool::forget_threads() noexcept {
  workers_.store(0, std::memory_order_relaxed);
  gate_.store(0, std::memory_order_relaxed);
  sleepers_.store(0, std::memory_order_relaxed);
  running_tasks_.store(0, std::memory_order_relaxed);
  first_task_ = last_task_ = nullptr;
  task_mutex_.unlock();
  if (!is_inside_region) vacate();
}

struct Lifetime {
  Lifetime() {
    pthread_atfork([] { pool.lock_for_fork(); }, [] { pool.unlock_after_fork(); }, [] { pool.forget_threads(); });
  }
  ~Lifetime() { pool.shut_down(); }
};
// Made before the object that knows of the process's end, hence destroyed after it; and after the memory, which workers
// use until they have ended.
[[gnu::init_priority(201)]] const Lifetime lifetime;

}  // namespace

int thread_count() { return pool.thread_count(); }
void set_thread_count(int n) { pool.set_thread_count(n); }
int worker_count() { return pool.worker_count(); }

bool post(PoolTask& task) { return pool.post(task); }
bool withdraw(PoolTask& task) noexcept { return pool.withdraw(task); }

bool detail::run_on_pool(std::int64_t blocks, BlockFunction call, void* context) {
  return pool.run(blocks, call, context);
}

}  // namespace capstan
