#include "autodiff/isolation.h"

#include <algorithm>
#include <utility>

#include "autodiff/accumulator.h"
#include "autodiff/tape.h"

namespace capstan {
namespace {

constinit thread_local Isolation* innermost = nullptr;

template <class Listener>
bool any_knows(const std::vector<Listener*>* listeners, const Tensor& tensor) {
  return listeners && std::ranges::any_of(*listeners, [&](const Listener* each) { return each->knows(tensor); });
}

/// A thread without listeners has no list.
template <class Listener>
std::vector<Listener*>* restored(std::vector<Listener*>* list) {
  if (!list || !list->empty()) return list;
  delete list;
  return nullptr;
}

}  // namespace

Isolation::Isolation()
    : recorder_(std::exchange(thread_state().recorder, nullptr)),
      paused_(std::exchange(thread_state().paused, 0)),
      tapes_(Tape::exchange_alive(nullptr)),
      accumulators_(Accumulator::exchange_alive(nullptr)),
      outer_(std::exchange(innermost, this)) {}

// A tape that user code left behind would otherwise stand in no list any more.
Isolation::~Isolation() {
  for (Tape* tape : std::vector<Tape*>(Tape::alive())) tape->close();
  for (Accumulator* accumulator : std::vector<Accumulator*>(Accumulator::alive())) accumulator->stop();
  delete Tape::exchange_alive(restored(tapes_));
  delete Accumulator::exchange_alive(restored(accumulators_));
  innermost = outer_;
  thread_state().recorder = recorder_;
  thread_state().paused = paused_;
}

void Isolation::forget(const Tape* tape) noexcept {
  for (const Isolation* at = innermost; at; at = at->outer_)
    if (at->tapes_) std::erase(*at->tapes_, tape);
}

void Isolation::forget(const Accumulator* accumulator) noexcept {
  for (const Isolation* at = innermost; at; at = at->outer_)
    if (at->accumulators_) std::erase(*at->accumulators_, accumulator);
}

bool Isolation::is_followed_anywhere(const Tensor& tensor) {
  if (!tensor.rep_or_null()->producer.tape &&
      !tensor.rep_or_null()->is_known_by_identity.load(std::memory_order_relaxed))
    return false;
  if (any_knows(&Tape::alive(), tensor) || any_knows(&Accumulator::alive(), tensor)) return true;
  for (const Isolation* at = innermost; at; at = at->outer_)
    if (any_knows(at->tapes_, tensor) || any_knows(at->accumulators_, tensor)) return true;
  return false;
}

}  // namespace capstan
