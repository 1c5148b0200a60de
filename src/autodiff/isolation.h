// Tapes and accumulators of the world outside hear nothing of a function that is being traced: they are told of the
// call as a whole.
#pragma once

#include <vector>

#include "op/observer.h"

namespace capstan {

class Tape;
class Accumulator;

/// While it lives, this thread has no recorder, no observers, no tapes and no accumulators but those made meanwhile,
/// which end with it.
class Isolation {
 public:
  Isolation();
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  /// Does a tape or accumulator of this thread follow the tensor, inside or outside of isolations?
  static bool is_followed_anywhere(const Tensor& tensor);

 private:
  const ThreadState state_;
  std::vector<Tape*>* const tapes_;
  std::vector<Accumulator*>* const accumulators_;
  Isolation* const outer_;
};

}  // namespace capstan
