// The recording behind a `GradientTape`: an observer of `apply` that keeps entries and knows tensors by identity.
//
// A tensor's producer is found in the tensor object itself (the first tape that recorded it) or, for watched tensors
// and when several tapes are alive, in a map by identity. An entry lives as long as somebody can still reach it: a
// handle to one of its outputs, or a later entry. Building, dropping and sweeping use work lists, never the call stack.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "autodiff/entry.h"
#include "op/observer.h"

namespace capstan {

/// A recorded value that went into a variable: gradients do not follow it, explanations do.
struct Assignment {
  std::uint64_t handle;  // identity
  std::string variable;
  Edge value;
};

class Tape final : public Observer {
 public:
  Tape(bool persistent, bool watch_accessed);
  /// Drops the creator's reference; tensors that the tape recorded hold further ones.
  void drop_reference() noexcept;
  /// Ends it for good: forgets everything. On another thread it only leaves a note for the tape's own thread, in whose
  /// lists it stands, and during a sweep, or while it lets go of something, for the end of that.
  void close() noexcept;

  void start();
  void stop() noexcept;
  bool is_recording() const { return is_recording_; }
  bool is_persistent() const { return is_persistent_; }
  bool watches_accessed() const { return watches_accessed_; }
  bool is_used_up() const { return is_used_up_; }
  void check_thread(const char* what) const;
  /// Throws FailedPrecondition while the tape computes gradients: its entries carry the state of that sweep.
  void check_idle(const char* what) const;
  /// Around each computation of gradients: keeps the tape, and ends it afterwards if it gives them once only or was to
  /// end meanwhile.
  void begin_sweep() noexcept;
  void end_sweep() noexcept;

  void watch(const Tensor& tensor);
  const std::vector<Tensor>& watched_handles() const { return watched_handles_; }
  void on_call(const OpCall& call) override;
  void on_variable_access(const Tensor& handle) override {
    if (watches_accessed_) watch(handle);
  }
  void record_function(const RecordedOperation& operation);

  Edge find(const Tensor& tensor) const;
  bool knows(const Tensor& tensor) const { return find(tensor).exists(); }
  /// Someone knows the tensor by its identity from now on: the thread's tapes keep it itself where they kept a copy of
  /// its elements.
  static void hold_where_recorded(const Tensor& tensor);
  /// From now on tensors that a tape or an accumulator knows tell of their death.
  static void hear_of_deaths();
  Entry& entry(std::uint32_t index) { return chunks_[index >> kChunkBits][index & (kChunkSize - 1)]; }
  const std::vector<Assignment>& assignments() const { return assignments_; }
  std::size_t entry_count() const { return live_entries_; }
  std::uint32_t next_mark() { return ++mark_; }
  /// Lets go of what an entry kept, once its gradient has been computed.
  void release_saved(std::uint32_t index) noexcept;

  /// A copy of output `k` that an entry saved, with the output's identity on this tape.
  Tensor saved_output(std::uint32_t index, std::uint32_t k, const Tensor& saved);

  /// Tapes of this thread, recording or not.
  static const std::vector<Tape*>& alive();
  /// Puts another list in the place of the thread's tapes; null is an empty one.
  static std::vector<Tape*>* exchange_alive(std::vector<Tape*>* list) noexcept;

 private:
  static constexpr std::uint32_t kChunkBits = 5;
  static constexpr std::uint32_t kChunkSize = 1u << kChunkBits;

  ~Tape() override;
  void close_abandoned() noexcept;
  static void tensor_died(detail::TensorRep* rep);
  void output_died(std::uint32_t index) noexcept;
  void identity_died(std::uint64_t identity) noexcept;
  void drop_use(std::uint32_t index) noexcept;
  void free_unused() noexcept;
  void end_freeing() noexcept;
  void clear_entry(std::uint32_t index) noexcept;
  void drain_foreign() noexcept;
  void forget_all() noexcept;

  std::uint32_t new_entry();
  void add_chunk();
  void hold_output(const Tensor& tensor);
  void connect_output(const Tensor& tensor, std::uint32_t index, std::uint32_t output, bool override_producer);
  void note_assignment(const OpCall& call, std::span<const Edge> edges);
  void save(Entry& entry, const OpCall& call);
  void describe_inputs(Entry& entry, const OpCall& call);
  template <class TensorAt>
  bool find_edges(std::size_t count, TensorAt&& tensor_at, SmallVector<Edge, 4>& edges) const;
  void set_edges(Entry& entry, std::span<const Edge> edges);

  detail::RefCount references_;
  const bool is_persistent_;
  const bool watches_accessed_;
  const std::thread::id thread_;
  bool is_recording_ = false;
  bool is_used_up_ = false;
  bool is_closed_ = false;
  bool is_sweeping_ = false;
  bool is_closing_ = false;
  std::atomic<bool> is_abandoned_{false};
  bool is_freeing_ = false;
  std::uint32_t mark_ = 0;
  std::uint32_t entry_end_ = 0;
  std::size_t live_entries_ = 0;
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> unused_;  // work list of entries whose last use is gone
  std::unordered_map<std::uint64_t, Edge> by_identity_;
  std::vector<Assignment> assignments_;
  std::vector<Tensor> watched_handles_;
  std::mutex foreign_mutex_;
  std::vector<std::uint32_t> foreign_deaths_;  // outputs that died on other threads
  std::atomic<bool> has_foreign_deaths_{false};
};

/// A trainable variable was read: the recording tapes that watch what is accessed follow its handle.
void watch_accessed_variable(const Tensor& handle);

}  // namespace capstan
