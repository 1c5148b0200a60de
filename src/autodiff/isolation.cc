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

}  // namespace

Isolation::Isolation()
    : state_(std::exchange(thread_state(), {})),
      tapes_(Tape::exchange_alive(nullptr)),
      accumulators_(Accumulator::exchange_alive(nullptr)),
      outer_(std::exchange(innermost, this)) {}

// A tape that user code left behind would otherwise stand in no list any more.
Isolation::~Isolation() {
  for (Tape* tape : std::vector<Tape*>(Tape::alive())) tape->close();
  for (Accumulator* accumulator : std::vector<Accumulator*>(Accumulator::alive())) accumulator->stop();
  Tape::exchange_alive(tapes_);
  Accumulator::exchange_alive(accumulators_);
  innermost = outer_;
  thread_state() = state_;
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
