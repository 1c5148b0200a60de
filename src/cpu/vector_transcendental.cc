// Exponentials, logarithms and their relatives on rows of float and double, compiled once for each instruction set.
#include <cmath>

#include "cpu/vector_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector_transcendental.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "cpu/vector_math-inl.h"
#include "cpu/vector_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu::HWY_NAMESPACE {
namespace {

struct Exp {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_exp(d, x);
  }
};
struct Expm1 {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_expm1(d, x);
  }
};
struct Log {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_log(d, x);
  }
};
struct Log1p {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_log1p(d, x);
  }
};
struct Tanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_tanh(d, x);
  }
};
struct Sigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_sigmoid(d, x);
  }
};
struct Erf {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return vector_erf(d, x);
  }
};
// Angles so large that the reduction loses digits, infinities and NaN go to the C library, one by one.
template <int kQuarterTurns>
struct Sine {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const auto is_small = hn::Le(hn::Abs(x), hn::Set(d, kLargestAngle));
    V y = sine<kQuarterTurns>(d, x);
    if (!hn::AllTrue(d, is_small)) y = hn::IfThenElse(is_small, y, one_by_one(d, x));
    // sin(-0) is -0.
    return kQuarterTurns ? y : hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  }
  template <class D, class V>
  HWY_NOINLINE static V one_by_one(D d, V x) {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(x, d, values);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i)
      values[i] = kQuarterTurns ? std::cos(values[i]) : std::sin(values[i]);
    return hn::Load(d, values);
  }
};

struct TanhGrad {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1)));
  }
};
struct SigmoidGrad {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::Mul(hn::Mul(dy, y), hn::Sub(hn::Set(d, 1), y));
  }
};

template <class T, class Function>
constexpr BinaryRow<T> loops() {
  using Loops = PairLoops<false, T, Function>;
  return {Loops::vv, Loops::vs, Loops::sv};
}

template <class T>
constexpr VectorMath<T> common_table() {
  return {.exp = SingleLoop<false, T, Exp>::row,
          .expm1 = SingleLoop<false, T, Expm1>::row,
          .log = SingleLoop<false, T, Log>::row,
          .log1p = SingleLoop<false, T, Log1p>::row,
          .tanh = SingleLoop<false, T, Tanh>::row,
          .sigmoid = SingleLoop<false, T, Sigmoid>::row,
          .sin = nullptr,
          .cos = nullptr,
          .erf = nullptr,
          .tanh_grad = loops<T, TanhGrad>(),
          .sigmoid_grad = loops<T, SigmoidGrad>()};
}

void sin_double(const double* x, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = std::sin(x[i]);
}
void cos_double(const double* x, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = std::cos(x[i]);
}
void erf_double(const double* x, double* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = std::erf(x[i]);
}

const VectorMath<float>* float_math() {
  static constexpr VectorMath<float> table = [] {
    VectorMath<float> functions = common_table<float>();
    functions.sin = SingleLoop<false, float, Sine<0>>::row;
    functions.cos = SingleLoop<false, float, Sine<1>>::row;
    functions.erf = SingleLoop<false, float, Erf>::row;
    return functions;
  }();
  return &table;
}
const VectorMath<double>* double_math() {
  static constexpr VectorMath<double> table = [] {
    VectorMath<double> functions = common_table<double>();
    functions.sin = sin_double;
    functions.cos = cos_double;
    functions.erf = erf_double;
    return functions;
  }();
  return &table;
}

}  // namespace
}  // namespace capstan::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capstan::cpu {

template <>
const VectorMath<float>& vector_math_for<float>(InstructionSet set) {
  return *CAPSTAN_CHOOSE_FOR(set, float_math)();
}
template <>
const VectorMath<double>& vector_math_for<double>(InstructionSet set) {
  return *CAPSTAN_CHOOSE_FOR(set, double_math)();
}

template <>
const VectorMath<float>& vector_math<float>() {
  static const VectorMath<float>& table = vector_math_for<float>(best_instruction_set());
  return table;
}
template <>
const VectorMath<double>& vector_math<double>() {
  static const VectorMath<double>& table = vector_math_for<double>(best_instruction_set());
  return table;
}

}  // namespace capstan::cpu
#endif
