#include "autodiff/accumulator.h"

#include <algorithm>
#include <utility>

#include "autodiff/fit.h"
#include "autodiff/forward.h"
#include "autodiff/isolation.h"
#include "autodiff/tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/math.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

// As for tapes: plain data, so that the library can be unloaded.
constinit thread_local std::vector<Accumulator*>* accumulators = nullptr;

Transposable checked_backward(const RecordedOperation& operation) {
  return [&operation](std::span<const Gradient> dy) {
    std::vector<Gradient> gradients = operation.backward(dy);
    if (gradients.size() == operation.inputs.size())  // else `transposed` throws
      check_fit(operation.name, gradients, value_specs(operation.inputs), "input");
    return gradients;
  };
}

}  // namespace

/// The accumulator lives on while this does, and ends after it if it was to end meanwhile.
class Accumulator::Kept {
 public:
  explicit Kept(Accumulator& accumulator) : accumulator_(accumulator) { ++accumulator.propagations_; }
  ~Kept() {
    --accumulator_.propagations_;
    accumulator_.close_if_abandoned();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

 private:
  Accumulator& accumulator_;
};

/// While it lives, operations are seen by those who listen outside of the accumulator: an outer accumulator takes the
/// tangent of a tangent, an outer tape records it, an inner one never hears of it.
class Accumulator::Propagating {
 public:
  explicit Propagating(Accumulator& accumulator) : kept_(accumulator), listeners_(accumulator) {
    if (accumulator.batch_) active_.emplace(*accumulator.batch_);
  }

 private:
  const Kept kept_;  // to the last
  const OnlyOuterObservers listeners_;
  std::optional<Batch::Active> active_;
};

Accumulator::Accumulator(std::int64_t directions)
    : batch_(directions < 0 ? nullptr : std::make_unique<Batch>(directions)), thread_(std::this_thread::get_id()) {
  Tape::hear_of_deaths();
  for (Accumulator* accumulator : std::vector<Accumulator*>(alive())) accumulator->close_if_abandoned();
  if (!accumulators) accumulators = new std::vector<Accumulator*>;
  accumulators->push_back(this);
}

Accumulator::~Accumulator() {
  stop();
  Isolation::forget(this);
  if (!accumulators) return;
  std::erase(*accumulators, this);
  if (accumulators->empty()) delete std::exchange(accumulators, nullptr);
}

void Accumulator::close() noexcept {
  const bool is_elsewhere = std::this_thread::get_id() != thread_;
  if (!is_elsewhere) stop();
  is_abandoned_.store(true, std::memory_order_release);  // from here on its own thread may delete it
  if (!is_elsewhere) close_if_abandoned();
}

void Accumulator::close_if_abandoned() noexcept {
  if (is_abandoned_.load(std::memory_order_acquire) && propagations_ == 0) delete this;
}

const std::vector<Accumulator*>& Accumulator::alive() {
  static const std::vector<Accumulator*> none;
  return accumulators ? *accumulators : none;
}

std::vector<Accumulator*>* Accumulator::exchange_alive(std::vector<Accumulator*>* list) noexcept {
  return std::exchange(accumulators, list);
}

void Accumulator::start() {
  ObserverList::push(*this);
  is_recording_ = true;
}

void Accumulator::stop() noexcept {
  if (!is_recording_) return;
  ObserverList::remove(*this);
  is_recording_ = false;
}

void Accumulator::check_thread(const char* what) const {
  if (std::this_thread::get_id() != thread_)
    throw FailedPrecondition(std::string(what) + ": an accumulator may be used only on the thread that made it");
}

void Accumulator::set(const Tensor& tensor, const Tensor& tangent) {
  tangents_.insert_or_assign(identity_of(tensor), tangent);
  tensor.rep_or_null()->is_known_by_identity.store(true, std::memory_order_relaxed);
}

void Accumulator::watch(const Tensor& primal, const Tensor& tangent) {
  const Propagating propagating(*this);
  const Tensor wrapped = batch_ ? batch_->wrap(tangent) : tangent;
  const auto found = tangents_.find(identity_of(primal));
  set(primal, found == tangents_.end() ? wrapped : found->second + wrapped);
  watched_.push_back(primal);
  Tape::hold_where_recorded(primal);
}

Tensor Accumulator::tangent_of(const Tensor& tensor) const {
  const auto found = tangents_.find(identity_of(tensor));
  if (found == tangents_.end()) return {};
  return batch_ ? batch_->members_of(found->second) : found->second;
}

bool Accumulator::knows(const Tensor& tensor) const { return tangents_.contains(identity_of(tensor)); }

void Accumulator::tensor_died(std::uint64_t identity) noexcept {
  for (std::size_t i = alive().size(); i-- > 0;) {  // a tangent's death may end accumulators
    if (i >= alive().size()) continue;
    const Kept kept(*alive()[i]);
    alive()[i]->tangents_.erase(identity);
  }
}

template <class TensorAt>
std::vector<Tensor> Accumulator::find_tangents(std::size_t count, TensorAt&& tensor_at) const {
  std::vector<Tensor> tangents;
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor& input = tensor_at(i);
    if (!input.rep_or_null()->is_known_by_identity.load(std::memory_order_relaxed)) continue;
    const auto found = tangents_.find(identity_of(input));
    if (found == tangents_.end()) continue;
    tangents.resize(count);
    tangents[i] = found->second;
  }
  return tangents;
}

void Accumulator::on_call(const OpCall& call) {
  if (is_abandoned_.load(std::memory_order_acquire)) [[unlikely]]
    return close_if_abandoned();
  const auto tangents =
      find_tangents(call.input_count(), [&](std::size_t i) -> const Tensor& { return call.input(i); });
  if (tangents.empty()) return;
  const auto carries = [](const Tensor& output) { return is_trainable(output.dtype()); };
  if (std::ranges::none_of(call.outputs(), carries)) return;
  const Propagating propagating(*this);
  const std::vector<Tensor> made = output_tangents(call, tangents);
  for (std::size_t k = 0; k < made.size(); ++k)
    if (made[k].is_defined()) set(call.output(k), made[k]);
}

void Accumulator::on_function(const RecordedOperation& operation) {
  if (is_abandoned_.load(std::memory_order_acquire)) return close_if_abandoned();
  const auto tangents =
      find_tangents(operation.inputs.size(), [&](std::size_t i) -> const Tensor& { return operation.inputs[i]; });
  if (tangents.empty()) return;
  const Propagating propagating(*this);
  std::vector<Tensor> made;
  if (operation.forward) {
    made = operation.forward(tangents);
  } else if (operation.backward) {
    made = transposed(checked_backward(operation), value_specs(operation.outputs), tangents);
  } else {
    return;
  }
  if (made.size() != operation.outputs.size())
    throw Internal(operation.name + ": its forward function returned " + std::to_string(made.size()) +
                   " tangents, expected " + std::to_string(operation.outputs.size()));
  for (std::size_t k = 0; k < made.size(); ++k) {
    const TensorSpec output = value_spec(operation.outputs[k]);
    if (made[k].is_defined() && !fits(made[k], output))
      throw_misfit(operation.name + ": the tangent of output " + std::to_string(k), made[k], output);
  }
  for (std::size_t k = 0; k < made.size(); ++k)
    if (made[k].is_defined() && !tangents_.contains(identity_of(operation.outputs[k])))
      set(operation.outputs[k], made[k]);  // of two records of one tensor the first counts
}

}  // namespace capstan
