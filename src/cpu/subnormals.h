// Subnormal numbers (below 1e-38 for float) cost a hundred times a normal one on some processors, and moments that
// decay towards zero become subnormal for good.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace capstan::cpu {

/// While it lives, this thread takes subnormal numbers for zero and rounds results to zero instead of to them. Does
/// nothing where the processor has no such mode.
class FlushSubnormals {
 public:
#if defined(__SSE__)
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushResults | kFlushInputs); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
#else
  FlushSubnormals() = default;
#endif
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kFlushResults = 0x8000, kFlushInputs = 0x0040;
  const unsigned before_;
#endif
};

}  // namespace capstan::cpu
