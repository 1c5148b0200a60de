#include "cpu/gemm.h"

#include <algorithm>
#include <complex>

#include "base/thread_pool.h"
#include "capstan/base/threads.h"
#include "capstan/tensor/dtype.h"
#include "cpu/gemm_kernel.h"
#include "cpu/onednn.h"
#include "cpu/scratch.h"

namespace capstan::cpu {
namespace {

// Below this many multiplications plain loops are done before a blocked kernel has begun.
constexpr std::int64_t kTiny = 256;
// A call into oneDNN costs a third of a microsecond: our own kernel is faster below.
constexpr std::int64_t kOneDnnFrom = 40 * 40 * 40;
// Multiplications that are worth handing to another thread.
constexpr std::int64_t kPerPiece = 1'500'000;

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// Integers wrap around: sums are kept unsigned, at least as wide as int.
template <class T>
struct SumOf {
  using type = T;
};
template <class T>
requires std::is_integral_v<T>
struct SumOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
};

template <class T>
T conjugate_if(bool yes, T x) {
  if constexpr (kIsComplex<T>)
    return yes ? std::conj(x) : x;
  else
    return x;
}

template <class T>
T times(T a, T b) {
  // The C library's complex product looks for infinities among NaNs, at five times the cost.
  if constexpr (kIsComplex<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}

/// Rows [0, m) and columns [0, n) of a product by plain loops; steps in elements.
template <class T>
struct Steps {
  std::int64_t a_row, a_column, b_row, b_column;
};
template <class T>
Steps<T> steps_of(const Product& p) {
  return {p.transpose_a ? 1 : p.k, p.transpose_a ? p.m : 1, p.transpose_b ? 1 : p.n, p.transpose_b ? p.k : 1};
}

template <class T>
void plain_rows(const Product& p, const T* a, const T* b, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                bool accumulate) {
  using Sum = typename SumOf<T>::type;
  const auto s = steps_of<T>(p);
  constexpr std::int64_t kChunk = 128;
  Sum sums[kChunk];
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j0 = 0; j0 < n; j0 += kChunk) {
      const std::int64_t columns = std::min(kChunk, n - j0);
      for (std::int64_t j = 0; j < columns; ++j)
        sums[j] = accumulate ? static_cast<Sum>(c[i * c_row + j0 + j]) : Sum(0);
      for (std::int64_t l = 0; l < p.k; ++l) {
        const Sum left = static_cast<Sum>(conjugate_if(p.conjugate_a, a[i * s.a_row + l * s.a_column]));
        const T* right = b + l * s.b_row + j0 * s.b_column;
        if (s.b_column == 1 && !p.conjugate_b)
          for (std::int64_t j = 0; j < columns; ++j) sums[j] += times(left, static_cast<Sum>(right[j]));
        else
          for (std::int64_t j = 0; j < columns; ++j)
            sums[j] += times(left, static_cast<Sum>(conjugate_if(p.conjugate_b, right[j * s.b_column])));
      }
      for (std::int64_t j = 0; j < columns; ++j) c[i * c_row + j0 + j] = static_cast<T>(sums[j]);
    }
}

/// oneDNN reads B where it lies: rows a multiple of 2 KiB apart fall on the same few lines of a cache, at a third of
/// the speed lost for 512 columns. Our own kernel copies B first.
bool collides_in_cache(const Product& p, std::int64_t m) {
  return !p.transpose_b && p.n % 512 == 0 && m >= 48 && p.k >= 128;
}

template <class T>
void blocked(const Product& p, const T* a, const T* b, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
             bool accumulate) {
  const auto s = steps_of<T>(p);
  const Scratch<T> workspace(gemm_workspace<T>(n, p.k));
  gemm_block({a, s.a_row, s.a_column, b, s.b_row, s.b_column, c, c_row, m, n, p.k, accumulate, workspace.data()});
}

/// m rows and n columns of the product whose first elements are at a, b and c.
template <class T>
void part(const Product& p, const T* a, const T* b, T* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
          bool accumulate) {
  if (m == 0 || n == 0) return;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    const std::int64_t work = m * n * p.k;
    if (work > kTiny) {
      if constexpr (std::is_same_v<T, float>)
        if (const OneDnn* dnn = work >= kOneDnnFrom && !collides_in_cache(p, m) ? onednn() : nullptr) {
          const OneDnnThread alone(*dnn);
          if (dnn->sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', m, n, p.k, 1.f, a,
                         p.transpose_a ? p.m : p.k, b, p.transpose_b ? p.k : p.n, accumulate ? 1.f : 0.f, c,
                         c_row) == dnnl_success)
            return;
        }
      return blocked(p, a, b, c, c_row, m, n, accumulate);
    }
  }
  plain_rows(p, a, b, c, c_row, m, n, accumulate);
}

/// Into how many rows and columns a product is cut.
struct Cut {
  std::int64_t rows, columns;            // of a piece
  std::int64_t row_count, column_count;  // pieces in each direction
};

std::int64_t even_share(std::int64_t total, std::int64_t pieces, std::int64_t multiple) {
  const std::int64_t share = (total + pieces - 1) / pieces;
  return (share + multiple - 1) / multiple * multiple;
}

/// At most how many pieces: our own kernel's are fixed, so that its results have the same bits for any number of
/// threads. oneDNN packs its operands anew in each piece, which is worth it only for threads that are there.
template <class T>
double most_pieces() {
  return std::is_same_v<T, float> && onednn() ? (thread_count() == 1 ? 1.0 : 2.0 * thread_count()) : 256.0;
}

template <class T>
Cut cut_of(const Product& p) {
  Cut cut{std::max<std::int64_t>(p.m, 1), std::max<std::int64_t>(p.n, 1), 1, 1};
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  if (work < 2.0 * kPerPiece) return cut;
  const auto wanted =
      static_cast<std::int64_t>(std::clamp(work / static_cast<double>(kPerPiece), 1.0, most_pieces<T>()));
  if (wanted == 1) return cut;
  // Pieces share no packed copy of B, so they get many rows, and columns are cut where rows are few.
  cut.rows = std::min(cut.rows, even_share(p.m, std::clamp<std::int64_t>(p.m / 192, 1, wanted), 24));
  cut.row_count = (p.m + cut.rows - 1) / cut.rows;
  const std::int64_t least = cut.row_count == 1 ? 64 : 512;
  const std::int64_t pieces = std::clamp<std::int64_t>(p.n / least, 1, (wanted + cut.row_count - 1) / cut.row_count);
  cut.columns = std::min(cut.columns, even_share(p.n, pieces, 16));
  cut.column_count = (p.n + cut.columns - 1) / cut.columns;
  return cut;
}

template <class T>
void piece(const Product& p, const Cut& cut, std::int64_t index, const T* a, const T* b, T* c) {
  const std::int64_t i = index / cut.column_count * cut.rows, j = index % cut.column_count * cut.columns;
  const auto s = steps_of<T>(p);
  part(p, a + i * s.a_row, b + j * s.b_column, c + i * p.n + j, p.n, std::min(cut.rows, p.m - i),
       std::min(cut.columns, p.n - j), false);
}

template <class T>
void multiply_batch_wide(const Product& p, const T* a, std::span<const std::int64_t> a_at, const T* b,
                         std::span<const std::int64_t> b_at, T* c) {
  const auto count = static_cast<std::int64_t>(a_at.size());
  if (p.m * p.n == 0) return;
  const Cut cut = cut_of<T>(p);
  const std::int64_t pieces = cut.row_count * cut.column_count;
  // Small products go together into one piece.
  const std::int64_t each = std::max<std::int64_t>(1, p.m * p.n * std::max<std::int64_t>(p.k, 1));
  const std::int64_t together =
      pieces > 1 ? 1 : std::clamp<std::int64_t>(kPerPiece / each, 1, std::max<std::int64_t>(count, 1));
  const std::int64_t total = count * pieces;
  parallel_for((total + together - 1) / together, [&](std::int64_t block) {
    for (std::int64_t i = block * together; i < std::min(total, (block + 1) * together); ++i) {
      const auto item = static_cast<std::size_t>(i / pieces);
      piece(p, cut, i % pieces, a + a_at[item], b + b_at[item], c + static_cast<std::int64_t>(item) * p.m * p.n);
    }
  });
}

/// As many elements as the matrices that start at these offsets reach over.
std::int64_t extent(std::span<const std::int64_t> at, std::int64_t matrix) {
  return at.empty() ? 0 : *std::ranges::max_element(at) + matrix;
}

template <class T>
Scratch<float> widened(const T* from, std::int64_t count) {
  Scratch<float> wide(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) wide.data()[i] = static_cast<float>(from[i]);
  return wide;
}

}  // namespace

template <class T>
void multiply_batch(const Product& p, const T* a, std::span<const std::int64_t> a_at, const T* b,
                    std::span<const std::int64_t> b_at, T* c) {
  if constexpr (kIsHalf<T>) {
    const Scratch<float> wide_a = widened(a, extent(a_at, p.m * p.k)), wide_b = widened(b, extent(b_at, p.k * p.n));
    const std::int64_t count = static_cast<std::int64_t>(a_at.size()) * p.m * p.n;
    const Scratch<float> wide_c(static_cast<std::size_t>(count));
    multiply_batch_wide<float>(p, wide_a.data(), a_at, wide_b.data(), b_at, wide_c.data());
    for (std::int64_t i = 0; i < count; ++i) c[i] = static_cast<T>(wide_c.data()[i]);
  } else {
    multiply_batch_wide(p, a, a_at, b, b_at, c);
  }
}

template <class T>
void multiply(const Product& product, const T* a, const T* b, T* c) {
  const std::int64_t at = 0;
  multiply_batch(product, a, std::span(&at, 1), b, std::span(&at, 1), c);
}

void multiply_here(const Product& p, const float* a, const float* b, float* c, bool accumulate) {
  part(p, a, b, c, p.n, p.m, p.n, accumulate);
}
void multiply_here(const Product& p, const double* a, const double* b, double* c, bool accumulate) {
  part(p, a, b, c, p.n, p.m, p.n, accumulate);
}

#define CAPSTAN_INSTANTIATE(T)                                                                       \
  template void multiply_batch<T>(const Product&, const T*, std::span<const std::int64_t>, const T*, \
                                  std::span<const std::int64_t>, T*);                                \
  template void multiply<T>(const Product&, const T*, const T*, T*);
CAPSTAN_INSTANTIATE(float)
CAPSTAN_INSTANTIATE(double)
CAPSTAN_INSTANTIATE(float16)
CAPSTAN_INSTANTIATE(bfloat16)
CAPSTAN_INSTANTIATE(std::int8_t)
CAPSTAN_INSTANTIATE(std::int16_t)
CAPSTAN_INSTANTIATE(std::int32_t)
CAPSTAN_INSTANTIATE(std::int64_t)
CAPSTAN_INSTANTIATE(std::uint8_t)
CAPSTAN_INSTANTIATE(std::uint16_t)
CAPSTAN_INSTANTIATE(std::uint32_t)
CAPSTAN_INSTANTIATE(std::uint64_t)
CAPSTAN_INSTANTIATE(std::complex<float>)
CAPSTAN_INSTANTIATE(std::complex<double>)
#undef CAPSTAN_INSTANTIATE

}  // namespace capstan::cpu
