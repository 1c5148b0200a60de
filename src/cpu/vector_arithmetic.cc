// Arithmetic on rows of float and double, compiled once for each instruction set.
#include "cpu/vector_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector_arithmetic.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "cpu/vector_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu::HWY_NAMESPACE {
namespace {

struct Negative {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
};
struct Absolute {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Abs(x);
  }
};
struct Square {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Mul(x, x);
  }
};
struct SquareRoot {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};
struct ReciprocalRoot {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1), hn::Sqrt(x));
  }
};
struct Reciprocal {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Set(d, 1), x);
  }
};
// `x > 0 ? x : 0` would turn NaN into 0.
struct Relu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
  }
};

struct Add {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    return hn::Add(x, y);
  }
};
struct Subtract {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    return hn::Sub(x, y);
  }
};
struct Multiply {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    return hn::Mul(x, y);
  }
};
struct Divide {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    return hn::Div(x, y);
  }
};
// A comparison is false for NaN in y, and x is checked: NaN on either side comes out.
struct Maximum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    return hn::IfThenElse(hn::Or(hn::Gt(x, y), hn::IsNaN(x)), x, y);
  }
};
struct Minimum {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    return hn::IfThenElse(hn::Or(hn::Lt(x, y), hn::IsNaN(x)), x, y);
  }
};
struct SquaredDifference {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V y) const {
    const V difference = hn::Sub(x, y);
    return hn::Mul(difference, difference);
  }
};
struct ReluGrad {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V dy, V x) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), dy);
  }
};

template <class T, class Function>
constexpr BinaryRow<T> loops() {
  using Loops = PairLoops<true, T, Function>;
  return {Loops::vv, Loops::vs, Loops::sv};
}

template <class T>
constexpr VectorArithmetic<T> make_table() {
  return {.negative = SingleLoop<true, T, Negative>::row,
          .absolute = SingleLoop<true, T, Absolute>::row,
          .square = SingleLoop<true, T, Square>::row,
          .square_root = SingleLoop<true, T, SquareRoot>::row,
          .reciprocal_root = SingleLoop<true, T, ReciprocalRoot>::row,
          .reciprocal = SingleLoop<true, T, Reciprocal>::row,
          .relu = SingleLoop<true, T, Relu>::row,
          .add = loops<T, Add>(),
          .subtract = loops<T, Subtract>(),
          .multiply = loops<T, Multiply>(),
          .divide = loops<T, Divide>(),
          .maximum = loops<T, Maximum>(),
          .minimum = loops<T, Minimum>(),
          .squared_difference = loops<T, SquaredDifference>(),
          .relu_grad = loops<T, ReluGrad>()};
}

const VectorArithmetic<float>* float_arithmetic() {
  static constexpr VectorArithmetic<float> table = make_table<float>();
  return &table;
}
const VectorArithmetic<double>* double_arithmetic() {
  static constexpr VectorArithmetic<double> table = make_table<double>();
  return &table;
}

// ---- half types -----------------------------------------------------------------------------------------------------

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
// With the F16C instructions; the other targets convert one by one.
void widen_float16(const float16* x, float* out, std::int64_t n) {
  const hn::FixedTag<float, 8> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto* from = reinterpret_cast<const hwy::float16_t*>(x);
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, from + i)), d, out + i);
  for (; i < n; ++i) out[i] = x[i];
}
void narrow_float16(const float* x, float16* out, std::int64_t n) {
  const hn::FixedTag<float, 8> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  auto* to = reinterpret_cast<hwy::float16_t*>(out);
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, x + i)), half, to + i);
  for (; i < n; ++i) out[i] = float16(x[i]);
}
#else
void widen_float16(const float16* x, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i];
}
void narrow_float16(const float* x, float16* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = float16(x[i]);
}
#endif

}  // namespace
}  // namespace capstan::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capstan::cpu {

template <>
const VectorArithmetic<float>& vector_arithmetic<float>() {
  static const VectorArithmetic<float>& table = *CAPSTAN_CHOOSE(float_arithmetic)();
  return table;
}
template <>
const VectorArithmetic<double>& vector_arithmetic<double>() {
  static const VectorArithmetic<double>& table = *CAPSTAN_CHOOSE(double_arithmetic)();
  return table;
}

void widen(const float16* x, float* out, std::int64_t n) {
  static const auto function = CAPSTAN_CHOOSE(widen_float16);
  function(x, out, n);
}
void narrow(const float* x, float16* out, std::int64_t n) {
  static const auto function = CAPSTAN_CHOOSE(narrow_float16);
  function(x, out, n);
}
// Plain loops of integer arithmetic: the compiler vectorizes them.
void widen(const bfloat16* x, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i];
}
void narrow(const float* x, bfloat16* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = bfloat16(x[i]);
}

}  // namespace capstan::cpu
#endif
