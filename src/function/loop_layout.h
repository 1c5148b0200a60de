// The order of a While node's values, which is TensorFlow's: a counter, the most iterations (-1 for no limit), the
// user's values, what condition and body capture, and, in the forward form, lists of intermediate values.
#pragma once

#include "function/traced_function.h"

namespace capstan {

struct LoopLayout {
  static constexpr std::size_t kCounter = 0;
  static constexpr std::size_t kLimit = 1;
  static constexpr std::size_t kFirstValue = 2;
};

/// A body whose captures also come out again, unchanged.
TracedFunctionPtr with_invariants(const TracedFunction& body);

}  // namespace capstan
