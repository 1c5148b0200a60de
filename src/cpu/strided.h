// Walks over arrays with any steps: copies in another order, and sums over the dimensions that the target lacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace capstan::cpu {

struct StridedDim {
  std::int64_t size;
  std::int64_t from;  // steps in elements
  std::int64_t to;    // 0: summed over
};

namespace detail {

template <bool kAdd, class T>
void walk(const StridedDim* dim, std::size_t count, const T* from, T* to) {
  const auto put = [](T& target, T value) {
    using Sum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
    if constexpr (kAdd)
      target = static_cast<T>(static_cast<Sum>(target) + static_cast<Sum>(value));
    else
      target = value;
  };
  if (count == 0) return put(*to, *from);
  if (count > 1) {
    for (std::int64_t i = 0; i < dim->size; ++i) walk<kAdd>(dim + 1, count - 1, from + i * dim->from, to + i * dim->to);
  } else if (dim->from == 1 && dim->to == 1) {
    for (std::int64_t i = 0; i < dim->size; ++i) put(to[i], from[i]);
  } else {
    for (std::int64_t i = 0; i < dim->size; ++i) put(to[i * dim->to], from[i * dim->from]);
  }
}

/// The same walk with fewer dimensions, the ones with the smallest steps innermost.
inline std::vector<StridedDim> simplified(std::vector<StridedDim> dims) {
  std::erase_if(dims, [](const StridedDim& dim) { return dim.size == 1; });
  std::ranges::stable_sort(dims,
                           [](const StridedDim& a, const StridedDim& b) { return a.to + a.from > b.to + b.from; });
  std::vector<StridedDim> merged;
  for (const StridedDim& dim : dims) {
    if (!merged.empty() && merged.back().from == dim.from * dim.size && merged.back().to == dim.to * dim.size) {
      merged.back() = {merged.back().size * dim.size, dim.from, dim.to};
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

inline bool is_empty(const std::vector<StridedDim>& dims) {
  return std::ranges::any_of(dims, [](const StridedDim& dim) { return dim.size == 0; });
}

}  // namespace detail

/// Copies each element; no two go to the same place.
template <class T>
void strided_copy(const std::vector<StridedDim>& dims, const T* from, T* to) {
  if (detail::is_empty(dims)) return;
  const auto walk = detail::simplified(dims);
  detail::walk<false>(walk.data(), walk.size(), from, to);
}

/// Writes `to`, `size` elements, the sum of the elements that go to each place.
template <class T>
void strided_sum(const std::vector<StridedDim>& dims, const T* from, T* to, std::int64_t size) {
  const bool sums = std::ranges::any_of(dims, [](const StridedDim& dim) { return dim.to == 0 && dim.size != 1; });
  if (!sums && !detail::is_empty(dims)) return strided_copy(dims, from, to);
  std::fill_n(to, size, T(0));
  if (detail::is_empty(dims)) return;
  const auto walk = detail::simplified(dims);
  detail::walk<true>(walk.data(), walk.size(), from, to);
}

}  // namespace capstan::cpu
