// Highway compiles this file once per instruction set and chooses at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/gemm_kernel.cc"
#include "cpu/gemm_kernel.h"

#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "cpu/instruction_set.h"

HWY_BEFORE_NAMESPACE();
namespace capstan::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Lanes = hn::ScalableTag<T>;
template <class T>
constexpr std::int64_t kLanes = static_cast<std::int64_t>(HWY_MAX_BYTES / sizeof(T));

// The tile of C that is kept in registers: kTileRows rows by two vectors, next to two vectors of B and one of A. The
// depth of a pass makes two vectors' columns of B fill half of a 32 KiB L1 cache.
#if HWY_TARGET == HWY_AVX3
constexpr std::int64_t kTileRows = 12;
#else
constexpr std::int64_t kTileRows = 6;
#endif
template <class T>
constexpr std::int64_t kDepth = static_cast<std::int64_t>(1024 / sizeof(T));
template <class T>
constexpr std::int64_t kWidth = 2 * kLanes<T>;

template <class T>
struct Strip {
  const T* at;
  std::int64_t row, column;  // steps from one row and one k to the next
};

/// c[kRows][kVectors vectors] (+)= a · b over `k`.
template <int kRows, int kVectors, class T>
HWY_INLINE void tile(const Strip<T>& a, const T* HWY_RESTRICT b, std::int64_t b_row, T* HWY_RESTRICT c,
                     std::int64_t c_row, std::int64_t k, bool accumulate) {
  const Lanes<T> d;
  using V = hn::Vec<Lanes<T>>;
  constexpr std::int64_t kN = kLanes<T>;
  V sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  for (int r = 0; r < kRows; ++r) {  // C is needed at the end only, and is on its way until then
    __builtin_prefetch(c + r * c_row);
    __builtin_prefetch(c + r * c_row + kVectors * kN - 1);
  }
  // A base for every third row keeps the addresses within what one instruction can say.
  const T* HWY_RESTRICT base[(kRows + 2) / 3];
  for (int r = 0; r < kRows; r += 3) base[r / 3] = a.at + r * a.row;
  for (std::int64_t i = 0; i < k; ++i) {
    V right[kVectors];
    for (int v = 0; v < kVectors; ++v) right[v] = hn::LoadU(d, b + v * kN);
    for (int r = 0; r < kRows; ++r) {
      const V left = hn::Set(d, base[r / 3][(r % 3) * a.row]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
    for (int r = 0; r < kRows; r += 3) base[r / 3] += a.column;
    b += b_row;
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      T* const to = c + r * c_row + v * kN;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sum[r][v]) : sum[r][v], d, to);
    }
}

template <int kVectors, class T>
HWY_NOINLINE void tile_of(std::int64_t rows, const Strip<T>& a, const T* b, std::int64_t b_row, T* c,
                          std::int64_t c_row, std::int64_t k, bool accumulate) {
  switch (rows) {
#define CAPSTAN_ROWS(R) \
  case R:               \
    return tile<R, kVectors>(a, b, b_row, c, c_row, k, accumulate);
    // The formatter takes a macro without a semicolon for part of a statement.
    // clang-format off
    CAPSTAN_ROWS(1) CAPSTAN_ROWS(2) CAPSTAN_ROWS(3) CAPSTAN_ROWS(4) CAPSTAN_ROWS(5) CAPSTAN_ROWS(6)
#if HWY_TARGET == HWY_AVX3
    CAPSTAN_ROWS(7) CAPSTAN_ROWS(8) CAPSTAN_ROWS(9) CAPSTAN_ROWS(10) CAPSTAN_ROWS(11) CAPSTAN_ROWS(12)
#endif
    // clang-format on
#undef CAPSTAN_ROWS
            default : return;
  }
}

/// The same for fewer columns than the vectors have: through a copy of the tile.
template <int kVectors, class T>
HWY_NOINLINE void partial_tile(std::int64_t rows, std::int64_t columns, const Strip<T>& a, const T* b, T* c,
                               std::int64_t c_row, std::int64_t k, bool accumulate) {
  constexpr std::int64_t kColumns = kVectors * kLanes<T>;
  T copy[kTileRows * kColumns];
  if (accumulate)
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(c + r * c_row, columns, copy + r * kColumns);
  tile_of<kVectors>(rows, a, b, kWidth<T>, copy, kColumns, k, accumulate);
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(copy + r * kColumns, columns, c + r * c_row);
}

/// Four rows of four 32-bit elements, or two of two 64-bit ones, transposed: to[column][row].
template <class T>
HWY_INLINE void transpose_square(const T* from, std::int64_t from_row, T* to, std::int64_t to_row) {
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_row);
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_row);
  } else {
    const hn::Repartition<double, decltype(d)> wide;
    const auto r2 = hn::LoadU(d, from + 2 * from_row), r3 = hn::LoadU(d, from + 3 * from_row);
    const auto low02 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1)),
               low13 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
    const auto up02 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1)),
               up13 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low02, low13)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low02, low13)), d, to + to_row);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, up02, up13)), d, to + 2 * to_row);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, up02, up13)), d, to + 3 * to_row);
  }
}

/// Columns [0, columns) of B over `k`, as k rows of kWidth elements, zeros behind the last column.
template <class T>
void pack_columns(const T* b, std::int64_t b_row, std::int64_t b_column, std::int64_t columns, std::int64_t k, T* to) {
  constexpr std::int64_t kSide = 16 / sizeof(T);
  if (columns < kWidth<T>) std::fill_n(to, k * kWidth<T>, T(0));
  if (b_column == 1) {
    if (columns == kWidth<T>) {
      const Lanes<T> d;
      for (std::int64_t i = 0; i < k; ++i, b += b_row, to += kWidth<T>) {
        hn::StoreU(hn::LoadU(d, b), d, to);
        hn::StoreU(hn::LoadU(d, b + kLanes<T>), d, to + kLanes<T>);
      }
    } else {
      for (std::int64_t i = 0; i < k; ++i) std::copy_n(b + i * b_row, columns, to + i * kWidth<T>);
    }
    return;
  }
  std::int64_t j = 0;
  for (; j + kSide <= columns; j += kSide) {
    std::int64_t i = 0;
    for (; i + kSide <= k; i += kSide)
      transpose_square(b + j * b_column + i, b_column, to + i * kWidth<T> + j, kWidth<T>);
    for (; i < k; ++i)
      for (std::int64_t s = 0; s < kSide; ++s) to[i * kWidth<T> + j + s] = b[(j + s) * b_column + i];
  }
  for (; j < columns; ++j)
    for (std::int64_t i = 0; i < k; ++i) to[i * kWidth<T> + j] = b[j * b_column + i * b_row];
}

/// The rows of one tile. A last tile of one or two rows would wait for its own sums, so rows are shared evenly.
struct TileRows {
  std::int64_t first, count;
};
std::int64_t strip_count(std::int64_t rows) { return (rows + kTileRows - 1) / kTileRows; }
TileRows strip_rows(std::int64_t rows, std::int64_t strip) {
  const std::int64_t strips = strip_count(rows), each = rows / strips, longer = rows % strips;
  return {strip * each + std::min(strip, longer), each + (strip < longer)};
}

/// Rows of A over `k`: where they lie, or a copy that brings them together, a strip of kTileRows * kDepth after
/// another.
template <class T>
class LeftRows {
 public:
  /// In place.
  LeftRows(const T* a, std::int64_t rows, std::int64_t row, std::int64_t column)
      : at_(a), rows_(rows), row_(row), column_(column) {}
  /// Copied to `to`: contiguous rows, or for a transposed A the k-th elements of a strip's rows side by side.
  LeftRows(const T* a, std::int64_t rows, std::int64_t row, std::int64_t column, std::int64_t k, T* to)
      : at_(to), rows_(rows), row_(column == 1 ? kDepth<T> : 1), column_(column == 1 ? 1 : kTileRows), is_copy_(true) {
    for (std::int64_t i = 0; i < strip_count(rows); ++i) {
      const TileRows strip = strip_rows(rows, i);
      copy_strip(a + strip.first * row, strip.count, row, column, k, to + i * kTileRows * kDepth<T>);
    }
  }
  Strip<T> strip(std::int64_t i) const {
    return {is_copy_ ? at_ + i * kTileRows * kDepth<T> : at_ + strip_rows(rows_, i).first * row_, row_, column_};
  }

 private:
  static void copy_strip(const T* a, std::int64_t rows, std::int64_t row, std::int64_t column, std::int64_t k, T* to) {
    if (column == 1) {
      for (std::int64_t r = 0; r < rows; ++r) std::copy_n(a + r * row, k, to + r * kDepth<T>);
    } else if (row == 1 && rows == kTileRows) {
      for (std::int64_t p = 0; p < k; ++p) std::memcpy(to + p * kTileRows, a + p * column, kTileRows * sizeof(T));
    } else {
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t r = 0; r < rows; ++r) to[p * kTileRows + r] = a[r * row + p * column];
    }
  }

  const T* at_;
  std::int64_t rows_, row_, column_;
  bool is_copy_ = false;
};

/// All rows times one panel of columns.
template <class T>
void multiply_panel(const LeftRows<T>& a, std::int64_t rows, const T* b, std::int64_t b_row, std::int64_t columns, T* c,
                    std::int64_t c_row, std::int64_t k, bool accumulate) {
  for (std::int64_t i = 0; i < strip_count(rows); ++i) {
    const auto [first, count] = strip_rows(rows, i);
    const Strip<T> left = a.strip(i);
    T* to = c + first * c_row;
    if (columns == kWidth<T>)
      tile_of<2>(count, left, b, b_row, to, c_row, k, accumulate);
    else if (columns == kLanes<T>)
      tile_of<1>(count, left, b, b_row, to, c_row, k, accumulate);
    else if (columns < kLanes<T>)
      partial_tile<1>(count, columns, left, b, to, c_row, k, accumulate);
    else
      partial_tile<2>(count, columns, left, b, to, c_row, k, accumulate);
  }
}

/// c[0..n) (+)= Σ a[i] b[i][0..n): rows of B are added up, four at a time.
template <class T>
void add_rows(const T* a, std::int64_t a_step, const T* b, std::int64_t b_row, T* c, std::int64_t n, std::int64_t k) {
  const Lanes<T> d;
  constexpr std::int64_t kN = kLanes<T>;
  std::int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const T* r = b + i * b_row;
    const T a0 = a[i * a_step], a1 = a[(i + 1) * a_step], a2 = a[(i + 2) * a_step], a3 = a[(i + 3) * a_step];
    const auto v0 = hn::Set(d, a0), v1 = hn::Set(d, a1), v2 = hn::Set(d, a2), v3 = hn::Set(d, a3);
    std::int64_t j = 0;
    for (; j + kN <= n; j += kN) {
      auto sum = hn::MulAdd(v0, hn::LoadU(d, r + j), hn::LoadU(d, c + j));
      sum = hn::MulAdd(v1, hn::LoadU(d, r + b_row + j), sum);
      sum = hn::MulAdd(v2, hn::LoadU(d, r + 2 * b_row + j), sum);
      hn::StoreU(hn::MulAdd(v3, hn::LoadU(d, r + 3 * b_row + j), sum), d, c + j);
    }
    for (; j < n; ++j) c[j] += a0 * r[j] + a1 * r[b_row + j] + a2 * r[2 * b_row + j] + a3 * r[3 * b_row + j];
  }
  for (; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) c[j] += a[i * a_step] * b[i * b_row + j];
}

/// c[j] (+)= a · b[j][0..k): dot products of contiguous rows.
template <class T>
void dot_rows(const T* a, const T* b, std::int64_t b_column, T* c, std::int64_t n, std::int64_t k) {
  const Lanes<T> d;
  constexpr std::int64_t kN = kLanes<T>;
  for (std::int64_t j = 0; j < n; ++j) {
    const T* r = b + j * b_column;
    auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + 4 * kN <= k; i += 4 * kN) {
      s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, r + i), s0);
      s1 = hn::MulAdd(hn::LoadU(d, a + i + kN), hn::LoadU(d, r + i + kN), s1);
      s2 = hn::MulAdd(hn::LoadU(d, a + i + 2 * kN), hn::LoadU(d, r + i + 2 * kN), s2);
      s3 = hn::MulAdd(hn::LoadU(d, a + i + 3 * kN), hn::LoadU(d, r + i + 3 * kN), s3);
    }
    for (; i + kN <= k; i += kN) s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, r + i), s0);
    T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
    for (; i < k; ++i) sum += a[i] * r[i];
    c[j] += sum;
  }
}

/// A vector times a matrix: reads B once, so nothing is copied. False if B lies in neither of the two ways.
template <class T>
bool multiply_vector(const GemmBlock<T>& block) {
  if (block.b_column != 1 && block.a_column != 1) return false;
  if (!block.accumulate) std::fill_n(block.c, block.n, T(0));
  constexpr std::int64_t kChunk = static_cast<std::int64_t>(8192 / sizeof(T));  // of C, to stay in L1
  if (block.b_column != 1) {
    dot_rows(block.a, block.b, block.b_column, block.c, block.n, block.k);
  } else {
    for (std::int64_t j = 0; j < block.n; j += kChunk)
      add_rows(block.a, block.a_column, block.b + j, block.b_row, block.c + j, std::min(kChunk, block.n - j), block.k);
  }
  return true;
}

/// A pass over part of k: columns of B are packed into panels, once; rows of A come in blocks that fit the second
/// cache, and each meets panel after panel.
template <class T>
class Pass {
 public:
  Pass(const GemmBlock<T>& block, std::int64_t k0)
      : block_(block), k0_(k0), k_(std::min(kDepth<T>, block.k - k0)), accumulate_(block.accumulate || k0 > 0) {}

  void run() const {
    for (std::int64_t j = 0; j < block_.n; j += kGemmColumns) run_columns(j, std::min(kGemmColumns, block_.n - j));
  }

 private:
  /// Few rows read B about as often as a copy would.
  bool is_direct(std::int64_t columns) const {
    return block_.b_column == 1 && block_.m <= 2 * kTileRows && (columns == kWidth<T> || columns == kLanes<T>);
  }
  T* panel(std::int64_t j) const { return block_.workspace + kDepth<T> * kGemmRows + j * k_; }

  void run_columns(std::int64_t j0, std::int64_t n) const {
    const T* b = block_.b + k0_ * block_.b_row + j0 * block_.b_column;
    for (std::int64_t j = 0; j < n; j += kWidth<T>) {
      const std::int64_t columns = std::min(kWidth<T>, n - j);
      if (!is_direct(columns))
        pack_columns(b + j * block_.b_column, block_.b_row, block_.b_column, columns, k_, panel(j));
    }
    for (std::int64_t i = 0; i < block_.m; i += kGemmRows) run_rows(i, std::min(kGemmRows, block_.m - i), b, j0, n);
  }
  void run_rows(std::int64_t i, std::int64_t rows, const T* b, std::int64_t j0, std::int64_t n) const {
    const LeftRows<T> a = left_rows(i, rows, n);
    T* c = block_.c + i * block_.c_row + j0;
    for (std::int64_t j = 0; j < n; j += kWidth<T>) {
      const std::int64_t columns = std::min(kWidth<T>, n - j);
      const bool direct = is_direct(columns);
      multiply_panel(a, rows, direct ? b + j : panel(j), direct ? block_.b_row : kWidth<T>, columns, c + j,
                     block_.c_row, k_, accumulate_);
    }
  }
  /// Copies pay off once they are read a few times.
  LeftRows<T> left_rows(std::int64_t i, std::int64_t rows, std::int64_t n) const {
    const T* a = block_.a + i * block_.a_row + k0_ * block_.a_column;
    if (block_.a_column != 1 || (rows > 48 && n > 4 * kWidth<T>))
      return {a, rows, block_.a_row, block_.a_column, k_, block_.workspace};
    return {a, rows, block_.a_row, 1};
  }

  const GemmBlock<T>& block_;
  std::int64_t k0_, k_;
  bool accumulate_;
};

template <class T>
void gemm_block_of(const GemmBlock<T>& block) {
  if (block.m == 1 && multiply_vector(block)) return;
  if (block.n == 1 && block.c_row == 1 &&
      multiply_vector(GemmBlock<T>{block.b, block.b_column, block.b_row, block.a, block.a_column, block.a_row, block.c,
                                   block.m, 1, block.m, block.k, block.accumulate, block.workspace}))
    return;
  for (std::int64_t k0 = 0; k0 < block.k; k0 += kDepth<T>) Pass<T>(block, k0).run();
}

void gemm_float(const GemmBlock<float>& block) { gemm_block_of(block); }
void gemm_double(const GemmBlock<double>& block) { gemm_block_of(block); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace capstan::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace capstan::cpu {

void gemm_block(const GemmBlock<float>& block) {
  static const auto chosen = CAPSTAN_CHOOSE(gemm_float);
  chosen(block);
}
void gemm_block(const GemmBlock<double>& block) {
  static const auto chosen = CAPSTAN_CHOOSE(gemm_double);
  chosen(block);
}

}  // namespace capstan::cpu
#endif
