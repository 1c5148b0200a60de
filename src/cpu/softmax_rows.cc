// Highway compiles this file once per instruction set and chooses at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/softmax_rows.cc"
#include "cpu/softmax_rows.h"

#include <hwy/foreach_target.h>  // IWYU pragma: keep
//
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/instruction_set.h"
#include "cpu/vector_math-inl.h"
HWY_BEFORE_NAMESPACE();
namespace capstan::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
const D d;

HWY_INLINE V exp_of(V x) { return vector_exp(d, x); }

float max_of(const float* x, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  float best = -std::numeric_limits<float>::infinity();
  std::int64_t i = 0;
  if (n >= lanes) {
    V largest = hn::Set(d, best);
    for (; i + lanes <= n; i += lanes) {
      const V v = hn::LoadU(d, x + i);
      largest = hn::IfThenElse(hn::Gt(v, largest), v, largest);
    }
    best = hn::GetLane(hn::MaxOfLanes(d, largest));
  }
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

template <bool kStore>
float exp_sum(const float* x, float shift, float* out, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V by = hn::Set(d, shift);
  V sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const V a = exp_of(hn::Sub(hn::LoadU(d, x + i), by)), b = exp_of(hn::Sub(hn::LoadU(d, x + i + lanes), by));
    if (kStore) {
      hn::StoreU(a, d, out + i);
      hn::StoreU(b, d, out + i + lanes);
    }
    sum0 = hn::Add(sum0, a);
    sum1 = hn::Add(sum1, b);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < n; i += lanes) {  // what is left, through a full vector
    const std::int64_t count = std::min(lanes, n - i);
    HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)] = {};
    std::copy_n(x + i, count, part);
    hn::Store(exp_of(hn::Sub(hn::Load(d, part), by)), d, part);
    for (std::int64_t k = 0; k < count; ++k) total += part[k];
    if (kStore) std::copy_n(part, count, out + i);
  }
  return total;
}

float exp_and_sum(const float* x, float shift, float* out, std::int64_t n) { return exp_sum<true>(x, shift, out, n); }
float only_sum(const float* x, float shift, std::int64_t n) { return exp_sum<false>(x, shift, nullptr, n); }

void scale(float* x, float factor, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V by = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), by), d, x + i);
  for (; i < n; ++i) x[i] *= factor;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace capstan::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capstan::cpu {
float row_max(const float* x, std::int64_t n) {
  static const auto chosen = CAPSTAN_CHOOSE(max_of);
  return chosen(x, n);
}
float row_exp(const float* x, float shift, float* out, std::int64_t n) {
  static const auto chosen = CAPSTAN_CHOOSE(exp_and_sum);
  return chosen(x, shift, out, n);
}
float row_exp_sum(const float* x, float shift, std::int64_t n) {
  static const auto chosen = CAPSTAN_CHOOSE(only_sum);
  return chosen(x, shift, n);
}
void row_scale(float* x, float factor, std::int64_t n) {
  static const auto chosen = CAPSTAN_CHOOSE(scale);
  chosen(x, factor, n);
}

}  // namespace capstan::cpu
#endif
