#include "cpu/vector_reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector_reduce.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "cpu/arithmetic.h"
#include "cpu/instruction_set.h"

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct SumFold {
  using Scalar = WrappingAdd;
  static constexpr bool kSquares = false;
  template <class V>
  static HWY_INLINE V combine(V x, V y) {
    return hn::Add(x, y);
  }
};
struct SquaresFold : SumFold {
  static constexpr bool kSquares = true;
};
struct ProductFold {
  using Scalar = WrappingMultiply;
  static constexpr bool kSquares = false;
  template <class V>
  static HWY_INLINE V combine(V x, V y) {
    return hn::Mul(x, y);
  }
};
// A NaN on either side stays: `x > y` is false for both, and `IsNaN` keeps the one that came before.
struct LargerFold {
  using Scalar = Larger;
  static constexpr bool kSquares = false;
  template <class V>
  static HWY_INLINE V combine(V x, V y) {
    return hn::IfThenElse(hn::Or(hn::Gt(x, y), hn::IsNaN(x)), x, y);
  }
};
struct SmallerFold {
  using Scalar = Smaller;
  static constexpr bool kSquares = false;
  template <class V>
  static HWY_INLINE V combine(V x, V y) {
    return hn::IfThenElse(hn::Or(hn::Lt(x, y), hn::IsNaN(x)), x, y);
  }
};

template <class Fold, class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x) {
  const auto value = hn::LoadU(d, x);
  if constexpr (Fold::kSquares)
    return hn::Mul(value, value);
  else
    return value;
}
template <class Fold, class T>
HWY_INLINE T load_one(const T* x) {
  if constexpr (Fold::kSquares)
    return *x * *x;
  else
    return *x;
}

template <class Fold, class T>
void fold_lanes(const T* x, std::int64_t groups, T* lanes) {
  // At most 16 elements per vector, so that two vectors at least run side by side.
  const hn::CappedTag<T, 16> d;
  constexpr std::size_t kWidth = hn::MaxLanes(d);
  hn::Vec<decltype(d)> running[kLanes / kWidth];
  for (std::size_t k = 0; k < kLanes / kWidth; ++k) running[k] = hn::LoadU(d, lanes + k * kWidth);
  for (std::int64_t i = 0; i < groups; ++i, x += kLanes)
    for (std::size_t k = 0; k < kLanes / kWidth; ++k)
      running[k] = Fold::combine(running[k], load<Fold>(d, x + k * kWidth));
  for (std::size_t k = 0; k < kLanes / kWidth; ++k) hn::StoreU(running[k], d, lanes + k * kWidth);
}

/// Adds `kRows` rows to `out`, in their order.
template <class Fold, int kRows, class T>
HWY_INLINE void take_rows(const T* x, std::int64_t step, std::int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t k = 0;
  for (; k + lanes <= width; k += lanes) {
    auto value = hn::LoadU(d, out + k);
    for (int row = 0; row < kRows; ++row) value = Fold::combine(value, load<Fold>(d, x + row * step + k));
    hn::StoreU(value, d, out + k);
  }
  for (; k < width; ++k)
    for (int row = 0; row < kRows; ++row) out[k] = typename Fold::Scalar{}(out[k], load_one<Fold>(x + row * step + k));
}

template <class Fold, class T>
void fold_rows(const T* x, std::int64_t rows, std::int64_t step, std::int64_t width, T* out) {
  for (std::int64_t k = 0; k < width; ++k) out[k] = load_one<Fold>(x + k);
  std::int64_t row = 1;
  for (; row + 4 <= rows; row += 4) take_rows<Fold, 4>(x + row * step, step, width, out);
  for (; row < rows; ++row) take_rows<Fold, 1>(x + row * step, step, width, out);
}

template <class T, class Fold>
constexpr VectorFold<T> kLoops{fold_lanes<Fold, T>, fold_rows<Fold, T>};

template <class T>
constexpr VectorFold<T> kTable[] = {kLoops<T, SumFold>, kLoops<T, ProductFold>, kLoops<T, LargerFold>,
                                    kLoops<T, SmallerFold>, kLoops<T, SquaresFold>};  // in the order of `Fold`

const VectorFold<float>* float_folds() { return kTable<float>; }
const VectorFold<double>* double_folds() { return kTable<double>; }

}  // namespace
}  // namespace capstan::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capstan::cpu {

template <>
const VectorFold<float>& vector_fold<float>(Fold fold) {
  static const VectorFold<float>* const table = CAPSTAN_CHOOSE(float_folds)();
  return table[static_cast<int>(fold)];
}
template <>
const VectorFold<double>& vector_fold<double>(Fold fold) {
  static const VectorFold<double>* const table = CAPSTAN_CHOOSE(double_folds)();
  return table[static_cast<int>(fold)];
}

}  // namespace capstan::cpu
#endif
