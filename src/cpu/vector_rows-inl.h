// Loops over arrays for functions of SIMD vectors, once per instruction set (see Highway's foreach_target.h).
#if defined(CAPSTAN_CPU_VECTOR_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CAPSTAN_CPU_VECTOR_ROWS_INL_H
#undef CAPSTAN_CPU_VECTOR_ROWS_INL_H
#else
#define CAPSTAN_CPU_VECTOR_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Fewer elements than a vector has: through a buffer of one vector's size, so that they take the same instructions.
template <class T, class Function>
HWY_INLINE void few_elements(Function function, const T* x, T* out, std::int64_t n) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(hn::Zero(d), d, buffer);
  for (std::int64_t i = 0; i < n; ++i) buffer[i] = x[i];
  hn::Store(function(d, hn::Load(d, buffer)), d, buffer);
  for (std::int64_t i = 0; i < n; ++i) out[i] = buffer[i];
}

/// out[i] = function(x[i]). The last vector may overlap the one before it: it is computed first, before `out` (which
/// may be `x`) is written. With fewer elements than lanes, `kNarrow` functions take shorter vectors.
template <bool kNarrow, class D, class Function, class T = hn::TFromD<D>>
HWY_INLINE void unary_row(D d, Function function, const T* x, T* out, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (n >= lanes) {
    const auto last = function(d, hn::LoadU(d, x + n - lanes));
    for (std::int64_t i = 0; i < n - lanes; i += lanes) hn::StoreU(function(d, hn::LoadU(d, x + i)), d, out + i);
    hn::StoreU(last, d, out + n - lanes);
  } else if constexpr (kNarrow && hn::MaxLanes(D()) > 1) {
    unary_row<kNarrow>(hn::Half<D>(), function, x, out, n);
  } else {
    few_elements(function, x, out, n);
  }
}

template <class T, class Function>
HWY_INLINE void few_pairs(Function function, const T* x, const T* y, T* out, std::int64_t n) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T buffer[2][HWY_MAX_BYTES / sizeof(T)];
  hn::Store(hn::Zero(d), d, buffer[0]);
  hn::Store(hn::Zero(d), d, buffer[1]);
  for (std::int64_t i = 0; i < n; ++i) {
    buffer[0][i] = x[i];
    buffer[1][i] = y[i];
  }
  hn::Store(function(d, hn::Load(d, buffer[0]), hn::Load(d, buffer[1])), d, buffer[0]);
  for (std::int64_t i = 0; i < n; ++i) out[i] = buffer[0][i];
}

/// out[i] = function(x[i], y[i]), with the same care for the end and for few elements.
template <bool kNarrow, class D, class Function, class T = hn::TFromD<D>>
HWY_INLINE void binary_row(D d, Function function, const T* x, const T* y, T* out, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (n >= lanes) {
    const auto last = function(d, hn::LoadU(d, x + n - lanes), hn::LoadU(d, y + n - lanes));
    for (std::int64_t i = 0; i < n - lanes; i += lanes)
      hn::StoreU(function(d, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, out + i);
    hn::StoreU(last, d, out + n - lanes);
  } else if constexpr (kNarrow && hn::MaxLanes(D()) > 1) {
    binary_row<kNarrow>(hn::Half<D>(), function, x, y, out, n);
  } else {
    few_pairs(function, x, y, out, n);
  }
}

/// The loop of a function of one vector. `kNarrow` is for short functions of every width: their code exists per width.
template <bool kNarrow, class T, class Function>
struct SingleLoop {
  static void row(const T* x, T* out, std::int64_t n) {
    unary_row<kNarrow>(hn::ScalableTag<T>(), Function{}, x, out, n);
  }
};

/// The three loops of a function of two vectors.
template <bool kNarrow, class T, class Function>
struct PairLoops {
  static void vv(const T* x, const T* y, T* out, std::int64_t n) {
    binary_row<kNarrow>(hn::ScalableTag<T>(), Function{}, x, y, out, n);
  }
  static void vs(const T* x, T y, T* out, std::int64_t n) {
    unary_row<kNarrow>(
        hn::ScalableTag<T>(), [y](auto d, auto v) HWY_ATTR { return Function{}(d, v, hn::Set(d, y)); }, x, out, n);
  }
  static void sv(T x, const T* y, T* out, std::int64_t n) {
    unary_row<kNarrow>(
        hn::ScalableTag<T>(), [x](auto d, auto v) HWY_ATTR { return Function{}(d, hn::Set(d, x), v); }, y, out, n);
  }
};

}  // namespace capstan::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
