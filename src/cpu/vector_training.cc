// See vector_training.h. Highway compiles this file once per instruction set.
#include "cpu/vector_training.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vector_training.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "cpu/instruction_set.h"

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls `step(d, i)` for all elements: whole vectors first, then one by one with the same instructions.
template <class T, class Step>
HWY_INLINE void for_elements(std::int64_t n, Step step) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(d, i);
  for (; i < n; ++i) step(hn::CappedTag<T, 1>(), i);
}

template <class T>
void descent(T* HWY_RESTRICT var, const T* HWY_RESTRICT delta, T alpha, std::int64_t n) {
  for_elements<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto step = hn::Mul(hn::Set(d, alpha), hn::LoadU(d, delta + i));
    hn::StoreU(hn::Sub(hn::LoadU(d, var + i), step), d, var + i);
  });
}

template <class T>
void adam(T* HWY_RESTRICT var, T* HWY_RESTRICT m, T* HWY_RESTRICT v, const T* HWY_RESTRICT grad,
          const AdamNumbers<T>& numbers, std::int64_t n) {
  const AdamNumbers<T> of = numbers;
  for_elements<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, grad + i);
    auto mean = hn::LoadU(d, m + i), square = hn::LoadU(d, v + i);
    const auto rest = hn::Set(d, 1 - of.beta1);
    mean = hn::Add(mean, hn::Mul(hn::Sub(g, mean), rest));
    square = hn::Add(square, hn::Mul(hn::Sub(hn::Mul(g, g), square), hn::Set(d, 1 - of.beta2)));
    hn::StoreU(mean, d, m + i);
    hn::StoreU(square, d, v + i);
    const auto direction = of.use_nesterov ? hn::Add(hn::Mul(g, rest), hn::Mul(hn::Set(d, of.beta1), mean)) : mean;
    const auto step =
        hn::Div(hn::Mul(hn::Set(d, of.alpha), direction), hn::Add(hn::Sqrt(square), hn::Set(d, of.epsilon)));
    hn::StoreU(hn::Sub(hn::LoadU(d, var + i), step), d, var + i);
  });
}

const VectorTraining<float>* float_training() {
  static constexpr VectorTraining<float> table{descent<float>, adam<float>};
  return &table;
}
const VectorTraining<double>* double_training() {
  static constexpr VectorTraining<double> table{descent<double>, adam<double>};
  return &table;
}

}  // namespace
}  // namespace capstan::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capstan::cpu {

template <>
const VectorTraining<float>& vector_training<float>() {
  static const auto& chosen = *CAPSTAN_CHOOSE(float_training)();
  return chosen;
}
template <>
const VectorTraining<double>& vector_training<double>() {
  static const auto& chosen = *CAPSTAN_CHOOSE(double_training)();
  return chosen;
}

}  // namespace capstan::cpu
#endif
