// Those who are told of every call on their thread, after it ran or was recorded: tapes, forward accumulators, finders
// of NaN, profilers. And the recorder, which takes calls in place of the kernels while a function is traced.
#pragma once

#include <span>

#include "capstan/op/infer.h"
#include "capstan/op/op_call.h"

namespace capstan {

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_call(const OpCall& call) = 0;
  /// A trainable variable is about to be read through its handle.
  virtual void on_variable_access(const Tensor& /*handle*/) {}

 private:
  friend class ObserverList;
  friend class OnlyOuterObservers;
  Observer* outer_ = nullptr;
};

struct RecordedOperation;

/// Takes calls in place of the kernels and makes symbolic outputs.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Does the observers' part of the call remain to be done? False if the recorder ran other ops instead, which the
  /// observers have been told of.
  virtual bool record(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                      std::span<const TensorSpec> specs, std::span<Tensor> outputs) = 0;
  /// The value of a symbolic tensor that is the same in every run, null if it is not known.
  virtual const Tensor* constant_value(const Tensor& /*tensor*/) { return nullptr; }
  /// What is known of the sizes in a symbolic vector that stands for a shape.
  virtual Shape constant_shape(const Tensor& /*sizes*/) { return Shape::unknown(); }
  /// An operation with a gradient function of its own was recorded on the tapes.
  virtual void on_recorded_operation(const RecordedOperation& /*operation*/) {}
  /// Did this recorder make the tensor?
  virtual bool has_made(const Tensor& /*tensor*/) const { return false; }
  /// The recorder that was active when this one began.
  virtual Recorder* outer() const { return nullptr; }
};

/// What `apply` looks at, per thread.
struct ThreadState {
  Observer* observers = nullptr;  // innermost first, linked through `outer_`
  Recorder* recorder = nullptr;
  int paused = 0;  // observers hear nothing while this is above zero
};

namespace detail {
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadState thread_state;
}

inline ThreadState& thread_state() noexcept { return detail::thread_state; }

/// The thread's observers. They are told outermost first.
class ObserverList {
 public:
  static void push(Observer& observer) noexcept;
  /// Takes the observer out, wherever it stands; nothing happens if it is not in the list.
  static void remove(Observer& observer) noexcept;
  /// Is it told of calls now?
  static bool contains(const Observer& observer) noexcept;
  static void tell(const OpCall& call);
  static void tell_from(Observer* observer, const OpCall& call);

  template <class Function>
  static void for_each(Function&& function) {
    for (Observer* at = thread_state().observers; at; at = at->outer_) function(*at);
  }

 private:
  friend class OnlyOuterObservers;
  static void unlink(Observer*& first, Observer& observer) noexcept;
};

/// While it lives, calls are told only to the observers that began before the given one (to none without one), and to
/// those that begin meanwhile. Observers may begin and end as always, also those that do not hear.
class OnlyOuterObservers {
 public:
  explicit OnlyOuterObservers(const Observer& observer) noexcept : OnlyOuterObservers(observer.outer_) {}
  OnlyOuterObservers() noexcept : OnlyOuterObservers(nullptr) {}
  ~OnlyOuterObservers();
  OnlyOuterObservers(const OnlyOuterObservers&) = delete;
  OnlyOuterObservers& operator=(const OnlyOuterObservers&) = delete;

 private:
  friend class ObserverList;
  explicit OnlyOuterObservers(Observer* outer) noexcept;

  Observer* all_;    // the whole list as it was, kept up to date
  Observer* outer_;  // the part of it that hears
  OnlyOuterObservers* const around_;
};

/// Silences the thread's observers for its lifetime.
class PauseObservers {
 public:
  PauseObservers() noexcept { ++thread_state().paused; }
  ~PauseObservers() { --thread_state().paused; }
  PauseObservers(const PauseObservers&) = delete;
  PauseObservers& operator=(const PauseObservers&) = delete;
};

}  // namespace capstan
