// The inner part of our own matrix products: one block on one thread, for the instruction set of the machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace capstan::cpu {

/// C = A·B for one block. Steps are in elements: element (i, j) of A lies at `a[i * a_row + j * a_column]`; one of the
/// two steps is 1, as for B. C's rows are contiguous.
template <class T>
struct GemmBlock {
  const T* a;
  std::int64_t a_row, a_column;
  const T* b;
  std::int64_t b_row, b_column;
  T* c;
  std::int64_t c_row;
  std::int64_t m, n, k;
  bool accumulate;  // C += A·B
  T* workspace;     // gemm_workspace<T>(n, k) elements
};

/// Rows of A and columns of B that are packed at a time.
inline constexpr std::int64_t kGemmRows = 192, kGemmColumns = 512;
/// Elements of the workspace of a product with `n` columns, on any instruction set.
template <class T>
constexpr std::size_t gemm_workspace(std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kDepth = 1024 / sizeof(T), kWidth = 128 / sizeof(T), kStrip = 12;
  const std::int64_t columns = (std::min(n, kGemmColumns) + kWidth - 1) / kWidth * kWidth;
  return static_cast<std::size_t>(kDepth * (kGemmRows + kStrip) + columns * std::min(k, kDepth));
}

/// Every element of C is summed over k in the same order whatever the block it is part of.
void gemm_block(const GemmBlock<float>& block);
void gemm_block(const GemmBlock<double>& block);

}  // namespace capstan::cpu
