// The propagation behind a `ForwardAccumulator`: an observer of `apply` that keeps tangents by the identity of tensors.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "autodiff/batch.h"
#include "capstan/autodiff/record.h"
#include "op/observer.h"

namespace capstan {

class Accumulator final : public Observer {
 public:
  /// Tangents have one more dimension in front if `directions` is not -1.
  explicit Accumulator(std::int64_t directions);
  /// Ends it. What cannot be done now, on another thread or while it propagates, is left to its own thread.
  void close() noexcept;

  void start();
  void stop() noexcept;
  bool is_recording() const { return is_recording_; }
  void check_thread(const char* what) const;

  /// Adds a tangent of the tensor's shape and type.
  void watch(const Tensor& primal, const Tensor& tangent);
  /// The tangent of a tensor, with the directions in front; undefined if there is none.
  Tensor tangent_of(const Tensor& tensor) const;

  bool knows(const Tensor& tensor) const;

  void on_call(const OpCall& call) override;
  /// A recorded operation with functions of its own in place of an op's rules.
  void on_function(const RecordedOperation& operation);

  static void tensor_died(std::uint64_t identity) noexcept;
  static const std::vector<Accumulator*>& alive();
  /// Puts another list in the place of the thread's accumulators; null is an empty one.
  static std::vector<Accumulator*>* exchange_alive(std::vector<Accumulator*>* list) noexcept;

 private:
  class Kept;
  class Propagating;
  ~Accumulator() override;
  void close_if_abandoned() noexcept;
  /// Tangents of the inputs; empty if none has one.
  template <class TensorAt>
  std::vector<Tensor> find_tangents(std::size_t count, TensorAt&& tensor_at) const;
  void set(const Tensor& tensor, const Tensor& tangent);

  std::unique_ptr<Batch> batch_;
  const std::thread::id thread_;
  bool is_recording_ = false;
  std::atomic<bool> is_abandoned_{false};
  int propagations_ = 0;                                // that are going on, one within another
  std::unordered_map<std::uint64_t, Tensor> tangents_;  // wrapped ones if there is a batch
  std::vector<Tensor> watched_;                         // primals, kept so that their tangents stay
};

}  // namespace capstan
