// Tapes and accumulators of the world outside hear nothing of a function that is being traced: they are told of the
// call as a whole.
#pragma once

#include <vector>

#include "op/observer.h"

namespace capstan {

class Tape;
class Accumulator;

/// While it lives, this thread has no recorder, no observers, no tapes and no accumulators but those made meanwhile,
/// which end with it. The others may be destroyed all the same.
class Isolation {
 public:
  Isolation();
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  /// Does a tape or accumulator of this thread follow the tensor, inside or outside of isolations?
  static bool is_followed_anywhere(const Tensor& tensor);
  /// For those that end: they are taken out of the lists that stand aside.
  static void forget(const Tape* tape) noexcept;
  static void forget(const Accumulator* accumulator) noexcept;

 private:
  Recorder* const recorder_;
  const int paused_;
  const OnlyOuterObservers observers_;
  std::vector<Tape*>* tapes_;
  std::vector<Accumulator*>* accumulators_;
  Isolation* const outer_;
};

}  // namespace capstan
