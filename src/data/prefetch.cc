#include "data/prefetch.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "base/pool_task.h"
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

/// Makes elements ahead on a worker of the pool, as long as fewer than `count` are waiting; taking one makes room for
/// the next. A reader that finds nothing ready does not wait for a worker to come: it makes the element itself, unless
/// a worker is just making it.
class Producer final : public PoolTask {
 public:
  Producer(Stream<Components>& input, std::size_t count) : input_(input), count_(count) {
    const std::lock_guard lock(mutex_);
    ask_for_more();
  }
  ~Producer() override {
    std::unique_lock lock(mutex_);
    is_stopped_ = true;
    if (state_ == State::posted && withdraw(*this)) state_ = State::idle;
    changed_.wait(lock, [&] { return state_ == State::idle; });
  }

  Delivery take() {
    std::unique_lock lock(mutex_);
    while (ready_.empty()) {
      if (state_ == State::posted && withdraw(*this)) state_ = State::idle;
      if (state_ == State::idle)
        make_one(lock);
      else
        changed_.wait(lock);
    }
    Delivery delivery = std::move(ready_.front());
    if (delivery.is_element)
      ready_.pop_front();
    else
      ready_.front() = {};  // an error is told once; then, as after the last element, there is nothing more
    ask_for_more();
    return delivery;
  }

  void run() noexcept override {
    std::unique_lock lock(mutex_);
    while (has_room() && !is_stopped_) make_one(lock);
    state_ = State::idle;
    changed_.notify_all();
  }

 private:
  enum class State { idle, posted, making };

  bool has_room() const { return !has_ended_ && ready_.size() < count_; }

  void ask_for_more() {
    if (state_ == State::idle && has_room() && post(*this)) state_ = State::posted;
  }

  void make_one(std::unique_lock<std::mutex>& lock) {
    const State before = std::exchange(state_, State::making);
    lock.unlock();
    Delivery delivery = make();
    lock.lock();
    state_ = before == State::idle ? State::idle : State::making;
    has_ended_ = !delivery.is_element;
    ready_.push_back(std::move(delivery));
    changed_.notify_all();
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
  const std::size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Delivery> ready_;
  bool has_ended_ = false;
  bool is_stopped_ = false;
  State state_ = State::idle;  // `making` from the worker's first element to its last: it never lies idle in between
};

class Prefetching final : public Stream<Components> {
 public:
  Prefetching(StreamPointer<Components> input, std::size_t count)
      : input_(std::move(input)), count_(count), process_(getpid()) {
    start();
  }
  ~Prefetching() override {
    if (!producer_ || getpid() == process_) return;
    // A worker of the parent may have held the lock, and been in the midst of an element: in a child process nothing of
    // this can be used or destroyed.
    static_cast<void>(producer_.release());
    static_cast<void>(input_.release());
  }
  bool next(Components& element) override {
    if (!producer_) return input_->next(element);
    if (getpid() != process_)
      throw FailedPrecondition(
          "prefetch: this process was forked while the iterator was alive, and what makes its elements "
          "stayed in the parent; begin a new iteration");
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
    // With one thread elements are made when they are asked for.
    if (thread_count() > 1) producer_ = std::make_unique<Producer>(*input_, count_);
  }

  StreamPointer<Components> input_;
  std::size_t count_;
  pid_t process_;
  std::unique_ptr<Producer> producer_;  // after what it reads: it ends first
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
