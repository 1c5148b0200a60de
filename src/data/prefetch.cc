#include "data/prefetch.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "capstan/base/error.h"
#include "capstan/base/threads.h"

namespace capstan::data::detail {
namespace {

/// What the producer hands over: an element, or an error, or (neither) the end.
struct Delivery {
  Components element;
  std::exception_ptr error;
  bool is_element = false;
};

/// A producer thread and the elements that it has ready. The thread makes one element more only while fewer than
/// `count` are waiting, and ends after the last element or an error.
class Producer {
 public:
  Producer(Stream<Components>& input, std::size_t count) : input_(input), count_(count) { start(); }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;
  ~Producer() {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Delivery take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty(); });
    Delivery delivery = std::move(ready_.front());
    if (delivery.is_element)
      ready_.pop_front();
    else
      ready_.front() = {};  // an error is told once; then, as after the last element, there is nothing more
    lock.unlock();
    changed_.notify_all();
    return delivery;
  }

  /// In a child process there is no thread, and whoever holds the mutex may be that thread.
  void abandon() { thread_.detach(); }

 private:
  void start() {
    sigset_t all, before;  // the host's signals are for the host's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw ResourceExhausted(std::string("prefetch: its thread cannot be started: ") + error.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "capstan-data");
  }

  void run() {
    for (bool goes_on = true; goes_on && wait_for_room();) {
      Delivery delivery = make();
      goes_on = delivery.is_element;
      {
        const std::lock_guard lock(mutex_);
        ready_.push_back(std::move(delivery));
      }
      changed_.notify_all();
    }
  }

  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || ready_.size() < count_; });
    return !is_stopped_;
  }

  Delivery make() {
    Delivery delivery;
    try {
      delivery.is_element = input_.next(delivery.element);
    } catch (...) {
      delivery.error = std::current_exception();
    }
    return delivery;
  }

  Stream<Components>& input_;
  std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Delivery> ready_;
  bool is_stopped_ = false;
  std::thread thread_;
};

class Prefetching final : public Stream<Components> {
 public:
  Prefetching(StreamPointer<Components> input, std::size_t count)
      : input_(std::move(input)), count_(count), process_(getpid()) {
    start();
  }
  ~Prefetching() override {
    if (!producer_ || getpid() == process_) return;
    // The copies of the thread's objects in a child process can be neither locked nor destroyed.
    producer_.release()->abandon();
    static_cast<void>(input_.release());
  }
  bool next(Components& element) override {
    if (!producer_) return input_->next(element);
    if (getpid() != process_)
      throw FailedPrecondition(
          "prefetch: this process was forked while the iterator was alive, and its thread stayed "
          "in the parent; begin a new iteration");
    Delivery delivery = producer_->take();
    if (delivery.error) std::rethrow_exception(delivery.error);
    element = std::move(delivery.element);
    return delivery.is_element;
  }
  void restart() override {
    producer_.reset();
    input_->restart();
    start();
  }

 private:
  void start() {
    if (thread_count() > 1) producer_ = std::make_unique<Producer>(*input_, count_);
  }

  StreamPointer<Components> input_;
  std::size_t count_;
  pid_t process_;
  std::unique_ptr<Producer> producer_;  // after what it reads: it is joined first
};

class Prefetch final : public Source<Components> {
 public:
  Prefetch(SourcePointer<Components> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
  StreamPointer<Components> open() const override {
    return std::make_unique<Prefetching>(input_->open(), static_cast<std::size_t>(count_));
  }
  std::int64_t cardinality() const override { return input_->cardinality(); }

 private:
  SourcePointer<Components> input_;
  std::int64_t count_;
};

}  // namespace

SourcePointer<Components> prefetched(SourcePointer<Components> input, std::int64_t count) {
  return std::make_shared<Prefetch>(std::move(input), count);
}

}  // namespace capstan::data::detail
