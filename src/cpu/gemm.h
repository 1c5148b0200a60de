// Matrix products of contiguous row-major matrices, for the kernels that need them: MatMul and its relatives, Einsum,
// convolutions. The work is cut into pieces that depend on the sizes alone, so the bits do not depend on the number of
// threads.
#pragma once

#include <cstdint>
#include <span>

namespace capstan::cpu {

/// C[m,n] = op(A) op(B) with op(A) of shape [m,k]: A is stored as [m,k], or [k,m] if it is transposed.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;  // of complex elements
};

/// One product on the pool. For each number type; the half types are multiplied and summed in float, integers wrap.
template <class T>
void multiply(const Product& product, const T* a, const T* b, T* c);

/// Products number i of `a + a_at[i]` and `b + b_at[i]`; the results follow each other in `c`.
template <class T>
void multiply_batch(const Product& product, const T* a, std::span<const std::int64_t> a_at, const T* b,
                    std::span<const std::int64_t> b_at, T* c);

/// One product on the calling thread, for kernels that cut their own work. `accumulate` adds to C.
void multiply_here(const Product& product, const float* a, const float* b, float* c, bool accumulate = false);
void multiply_here(const Product& product, const double* a, const double* b, double* c, bool accumulate = false);

}  // namespace capstan::cpu
