// Transcendental functions of SIMD vectors, for float and, where a double form is given, double. Each is within 5 units
// in the last place (7.5 without fused operations) and right at zeros, denormals, infinities and NaN. Other kernels
// include this file within their own foreach_target loop. The coefficients of the float forms are minimax fits made for
// this file (Lawson's iteration).
#if defined(CAPSTAN_CPU_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CAPSTAN_CPU_VECTOR_MATH_INL_H
#undef CAPSTAN_CPU_VECTOR_MATH_INL_H
#else
#define CAPSTAN_CPU_VECTOR_MATH_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V polynomial(D d, V, double c0) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(c0));
}
template <class D, class V = hn::Vec<D>, class... Rest>
HWY_INLINE V polynomial(D d, V x, double c0, Rest... rest) {
  return hn::MulAdd(polynomial(d, x, rest...), x, hn::Set(d, static_cast<hn::TFromD<D>>(c0)));
}

template <class D>
constexpr bool is_float(D) {
  return sizeof(hn::TFromD<D>) == 4;
}

// ---- exponential functions ------------------------------------------------------------------------------------------

/// x = n ln 2 + r with |r| <= ln 2 / 2, for |x| far below 2^22.
template <class D, class V = hn::Vec<D>>
struct Reduced {
  V r;
  hn::VFromD<hn::RebindToSigned<D>> n;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE Reduced<D> reduce_by_ln2(D d, V x) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  // Adding 1.5 * 2^23 (2^52) rounds to an integer and leaves it in the low bits.
  const V magic = hn::Set(d, static_cast<T>(is_float(d) ? 12582912.0 : 6755399441055744.0));
  const V shifted = hn::MulAdd(x, hn::Set(d, static_cast<T>(1.44269504088896340736)), magic);
  const V n = hn::Sub(shifted, magic);
  // ln 2 in two parts; the first has so few bits that n times it is exact.
  const V high = hn::Set(d, static_cast<T>(is_float(d) ? 0.693359375 : 6.93147180369123816490e-01));
  const V low = hn::Set(d, static_cast<T>(is_float(d) ? -2.12194440054690583e-4 : 1.90821492927058770002e-10));
  return {hn::NegMulAdd(n, low, hn::NegMulAdd(n, high, x)), hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic))};
}

/// e^r - 1 on |r| <= ln 2 / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_near_zero(D d, V r) {
  const V square = hn::Mul(r, r);
  if constexpr (is_float(D{}))
    return hn::MulAdd(square,
                      polynomial(d, r, 0.5, 0.166666672, 0.041666355, 0.00833327416, 0.00139410351, 0.000199135902), r);
  else
    return hn::MulAdd(square,
                      polynomial(d, r, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                                 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0),
                      r);
}

/// 2^n where that is a normal number.
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI n) {
  constexpr int kMantissa = is_float(D{}) ? 23 : 52;
  constexpr int kBias = is_float(D{}) ? 127 : 1023;
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<kMantissa>(hn::Add(n, hn::Set(di, kBias))));
}

/// x within bounds; NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V clamp(D d, V x, double low, double high) {
  using T = hn::TFromD<D>;
  // In this order the instructions of x86 (which give the second argument) and Arm (which give NaN) hand NaN on.
  const V bounded = hn::Min(hn::Set(d, static_cast<T>(high)), hn::Max(hn::Set(d, static_cast<T>(low)), x));
#if HWY_ARCH_X86 || HWY_ARCH_ARM
  return bounded;
#else
  return hn::IfThenElse(hn::IsNaN(x), x, bounded);
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_exp(D d, V x) {
  // Beyond the bounds the result is 0 or infinity anyway.
  const auto reduced = reduce_by_ln2(d, clamp(d, x, is_float(d) ? -104.0 : -746.0, is_float(d) ? 89.0 : 710.0));
  const V power = hn::Add(expm1_near_zero(d, reduced.r), hn::Set(d, 1));
  // In two steps: 2^n itself may be too large or too small, and a denormal result must be rounded once.
  const auto half = hn::ShiftRight<1>(reduced.n);
  return hn::Mul(hn::Mul(power, power_of_two(d, half)), power_of_two(d, hn::Sub(reduced.n, half)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_expm1(D d, V x) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  const auto reduced = reduce_by_ln2(d, clamp(d, x, is_float(d) ? -20.0 : -45.0, is_float(d) ? 89.0 : 710.0));
  // Half of it, since 2^n may be too large; doubled at the end.
  const V scale = power_of_two(d, hn::Sub(reduced.n, hn::Set(di, 1)));
  const V half = hn::MulAdd(scale, expm1_near_zero(d, reduced.r), hn::Sub(scale, hn::Set(d, static_cast<T>(0.5))));
  return hn::CopySign(hn::Add(half, half), x);  // the sign of -0
}

/// 1 / (1 + e^-x), without a difference of near numbers on either side.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_sigmoid(D d, V x) {
  const V one = hn::Set(d, 1);
  const V small = vector_exp(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one), hn::Add(one, small));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_tanh(D d, V x) {
  const V magnitude = hn::Abs(x);
  if constexpr (is_float(D{})) {
    const V bounded = clamp(d, magnitude, 0, 9.02);
    const V z = hn::Mul(bounded, bounded);
    const V above = hn::Mul(bounded, polynomial(d, z, 1, 0.13379702, 0.00349401566, 2.0583162e-05, 1.33185969e-08));
    const V below = polynomial(d, z, 1, 0.467130184, 0.0258710012, 0.000328306109, 7.76183981e-07);
    const V ratio = hn::Div(above, below);
    // The ratio may end a unit above 1.
    return hn::CopySign(hn::IfThenElse(hn::Gt(ratio, hn::Set(d, 1)), hn::Set(d, 1), ratio), x);
  } else {
    const V e = vector_expm1(d, hn::Add(magnitude, magnitude));
    const V ratio = hn::Div(e, hn::Add(e, hn::Set(d, 2)));
    return hn::CopySign(hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 20)), hn::Set(d, 1), ratio), x);
  }
}

// ---- logarithms -----------------------------------------------------------------------------------------------------

/// log(x) for x that is finite, positive and not denormal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_normal(D d, V x, V added_exponent) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  constexpr int kMantissa = is_float(D{}) ? 23 : 52;
  // m in [sqrt(1/2), sqrt(2)): the bits of sqrt(1/2) are subtracted, what is left above the mantissa is the exponent.
  const auto bits = hn::BitCast(di, x);
  const auto root_bits = hn::BitCast(di, hn::Set(d, static_cast<T>(0.70710678118654752440)));
  const auto exponent = hn::ShiftRight<kMantissa>(hn::Sub(bits, root_bits));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<kMantissa>(exponent)));
  const V e = hn::Add(hn::ConvertTo(d, exponent), added_exponent);
  const V f = hn::Sub(m, hn::Set(d, 1));
  const V half_square = hn::Mul(hn::Set(d, static_cast<T>(0.5)), hn::Mul(f, f));
  if constexpr (is_float(D{})) {
    const V p = polynomial(d, f, 0.333333313, -0.250008225, 0.200012267, -0.166233569, 0.142017618, -0.131601945,
                           0.127615497, -0.0763442963);
    const V cube = hn::Mul(hn::Mul(f, f), f);
    const V low =
        hn::MulAdd(e, hn::Set(d, static_cast<T>(-2.12194440054690583e-4)), hn::Sub(hn::Mul(cube, p), half_square));
    return hn::MulAdd(e, hn::Set(d, static_cast<T>(0.693359375)), hn::Add(f, low));
  } else {
    // log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)) with s = f / (2 + f).
    const V s = hn::Div(f, hn::Add(hn::Set(d, 2), f));
    const V z = hn::Mul(s, s);
    const V r = hn::Mul(z, polynomial(d, z, 6.666666666666735130e-01, 3.999999999940941908e-01,
                                      2.857142874366239149e-01, 2.222219843214978396e-01, 1.818357216161805012e-01,
                                      1.531383769920937332e-01, 1.479819860511658591e-01));
    const V low =
        hn::MulAdd(s, hn::Add(half_square, r), hn::Mul(e, hn::Set(d, static_cast<T>(1.90821492927058770002e-10))));
    return hn::MulAdd(e, hn::Set(d, static_cast<T>(6.93147180369123816490e-01)), hn::Sub(f, hn::Sub(half_square, low)));
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_log(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr int kShift = is_float(D{}) ? 24 : 54;
  const auto is_denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V scaled = hn::Mul(x, hn::Set(d, static_cast<T>(std::int64_t{1} << kShift)));
  const V y = log_of_normal(d, hn::IfThenElse(is_denormal, scaled, x),
                            hn::IfThenElseZero(is_denormal, hn::Set(d, static_cast<T>(-kShift))));
  const auto is_positive = hn::Gt(x, hn::Zero(d));
  const V at_most_zero =
      hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInfinity), hn::Set(d, std::numeric_limits<T>::quiet_NaN()));
  // Infinity stays; NaN is not positive.
  return hn::IfThenElse(is_positive, hn::IfThenElse(hn::Eq(x, hn::Set(d, kInfinity)), x, y), at_most_zero);
}

/// log(1 + x): the rounding error of 1 + x is given back.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_log1p(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, 1);
  const V sum = hn::Add(x, one);
  // The larger of the two summands is subtracted first, so that both differences are exact.
  const V lost = hn::IfThenElse(hn::Gt(x, one), hn::Sub(one, hn::Sub(sum, x)), hn::Sub(x, hn::Sub(sum, one)));
  const auto is_regular =
      hn::And(hn::Gt(sum, hn::Zero(d)), hn::Lt(sum, hn::Set(d, std::numeric_limits<T>::infinity())));
  const V y = hn::Add(vector_log(d, sum), hn::IfThenElseZero(is_regular, hn::Div(lost, sum)));
  return hn::CopySign(y, x);  // the sign of -0
}

// ---- float only -----------------------------------------------------------------------------------------------------

template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_erf(D d, V x) {
  const V bounded = clamp(d, x, -3.95, 3.95);
  const V z = hn::Mul(bounded, bounded);
  const V above = hn::Mul(
      bounded, polynomial(d, z, 1.12837911, 0.191537797, 0.0528736413, 0.00380758033, 0.000284667767, 2.02591741e-06));
  const V ratio =
      hn::Div(above, polynomial(d, z, 1, 0.503078699, 0.114554301, 0.0150539344, 0.00117057178, 3.78308468e-05));
  return hn::IfThenElse(hn::Gt(hn::Abs(ratio), hn::Set(d, 1)), hn::CopySign(hn::Set(d, 1), ratio), ratio);
}

/// x minus the nearest multiple n of pi / 2, in double, so that sines near the multiples of pi keep their digits; and
/// the low bits of n. For |x| up to kLargestAngle.
inline constexpr float kLargestAngle = 1e5f;
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reduce_by_half_pi(D d, V x, V n) {
  const hn::Half<D> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const auto reduce = [&](auto part, auto multiple) HWY_ATTR {
    const auto wide = hn::PromoteTo(dd, part), times = hn::PromoteTo(dd, multiple);
    const auto high = hn::NegMulAdd(times, hn::Set(dd, 1.57079632673412561417e+00), wide);  // 33 bits of pi / 2
    return hn::DemoteTo(dh, hn::NegMulAdd(times, hn::Set(dd, 6.07710050650619224932e-11), high));
  };
  return hn::Combine(d, reduce(hn::UpperHalf(dh, x), hn::UpperHalf(dh, n)),
                     reduce(hn::LowerHalf(dh, x), hn::LowerHalf(dh, n)));
}

/// sin(x + quarter_turns * pi / 2).
template <int kQuarterTurns, class D, class V = hn::Vec<D>>
HWY_INLINE V sine(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 0.636619772367581343f), magic);
  const V r = reduce_by_half_pi(d, x, hn::Sub(shifted, magic));
  const auto quarter = hn::Add(hn::BitCast(di, shifted), hn::Set(di, kQuarterTurns));
  const V z = hn::Mul(r, r);
  const V sin_r =
      hn::MulAdd(hn::Mul(r, z), polynomial(d, z, -0.166666672, 0.00833332911, -0.000198393027, 2.71802605e-06), r);
  const V cos_r = hn::MulAdd(hn::Mul(z, z), polynomial(d, z, 0.0416666456, -0.00138873083, 2.44322091e-05),
                             hn::NegMulAdd(hn::Set(d, 0.5f), z, hn::Set(d, 1)));
  const auto is_odd = hn::RebindMask(d, hn::Eq(hn::And(quarter, hn::Set(di, 1)), hn::Set(di, 1)));
  const V sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quarter, hn::Set(di, 2))));
  return hn::Xor(hn::IfThenElse(is_odd, cos_r, sin_r), sign);
}

}  // namespace capstan::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
