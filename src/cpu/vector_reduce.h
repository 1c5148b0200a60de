// The hot loops of reductions of float and double, written with SIMD instructions that are chosen at run time. They
// combine in the order of the plain loops in reduce.h, so their results have the same bits on every processor.
#pragma once

#include <cstdint>

namespace capstan::cpu {

/// How two values become one. `squares`: the sum of the squares of the elements. `none`: no SIMD form.
enum class Fold { sum, product, larger, smaller, squares, none };

inline constexpr std::int64_t kLanes = 32;  // running values of a row

template <class T>
struct VectorFold {
  /// lanes[k] = lanes[k] with x[k], x[k + kLanes], ... : `groups` values each.
  void (*lanes)(const T* x, std::int64_t groups, T* lanes);
  /// out[k] = the fold of column k: `rows` rows of `width` elements, `step` apart.
  void (*rows)(const T* x, std::int64_t rows, std::int64_t step, std::int64_t width, T* out);
};

/// The loops for `fold`, which is not `none`.
template <class T>
const VectorFold<T>& vector_fold(Fold fold);
template <>
const VectorFold<float>& vector_fold<float>(Fold fold);
template <>
const VectorFold<double>& vector_fold<double>(Fold fold);

}  // namespace capstan::cpu
