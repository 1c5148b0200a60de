// Reductions, brought to one picture: the input is [outer, reduced, inner]. Reductions over axes that do not lie side
// by side take one such pass after the other, the innermost first.
//
// Sums are added up in a fixed tree: lanes inside a leaf, leaves inside a chunk, chunks pairwise. The tree depends on
// the shape alone, so the bits of a result depend neither on the number of threads nor on the processor, and the
// rounding error grows with the logarithm of the count.
#pragma once

#include <memory>
#include <vector>

#include "capstan/op/kernel.h"
#include "cpu/arithmetic.h"
#include "cpu/parallel.h"
#include "cpu/vector_reduce.h"

namespace capstan::cpu {

/// The dimensions of a reduction, neighbours of the same kind joined, outermost first.
struct ReducePlan {
  struct Dim {
    std::int64_t size;
    bool is_reduced;
  };
  std::vector<Dim> dims;
  std::int64_t reduced_count = 1;  // elements that go into one output

  ReducePlan(const Shape& input, const Tensor& axes);
};

namespace detail {

inline constexpr std::int64_t kChunk = kElementsPerBlock;  // elements of a row, or of a group of rows, for one thread
inline constexpr std::int64_t kLeafRows = 64;              // rows added up before their sum joins the others
inline constexpr std::int64_t kColumns = 1024;  // columns taken at once: their sums stay in the nearest cache

/// Is there a SIMD form of the reducer for these types?
template <class Reducer, class In, class Value>
inline constexpr bool has_vector_fold = Reducer::kFold != Fold::none&& std::is_same_v<In, Value> &&
                                        (std::is_same_v<In, float> || std::is_same_v<In, double>);

/// Combines values pairwise in place: neighbours first, then neighbours of neighbours. `width` values each.
template <class Reducer, class Value>
void combine_pairwise(Value* values, std::int64_t count, std::int64_t width) {
  for (std::int64_t step = 1; step < count; step *= 2)
    for (std::int64_t i = 0; i + step < count; i += 2 * step)
      for (std::int64_t k = 0; k < width; ++k)
        values[i * width + k] = Reducer{}(values[i * width + k], values[(i + step) * width + k]);
}

/// One row of at most a chunk, in lanes of at most `kLeafRows` values before they are combined.
template <class Reducer, class In, class Value>
Value reduce_chunk(const In* x, std::int64_t n) {
  Value total = Reducer::template identity<Value>();
  std::int64_t i = 0;
  while (n - i >= kLanes) {
    Value lanes[kLanes];
    for (Value& lane : lanes) lane = Reducer::template identity<Value>();
    const std::int64_t groups = std::min((n - i) / kLanes, kLeafRows);
    if constexpr (has_vector_fold<Reducer, In, Value>) {
      vector_fold<In>(Reducer::kFold).lanes(x + i, groups, lanes);
    } else {
      for (const In* from = x + i; from < x + i + groups * kLanes; from += kLanes)
        for (std::int64_t k = 0; k < kLanes; ++k)
          lanes[k] = Reducer{}(lanes[k], Reducer::template load<Value>(from[k]));
    }
    i += groups * kLanes;
    combine_pairwise<Reducer>(lanes, kLanes, 1);
    total = Reducer{}(total, lanes[0]);
  }
  for (; i < n; ++i) total = Reducer{}(total, Reducer::template load<Value>(x[i]));
  return total;
}

/// x is [rows, n], out [rows].
template <class Reducer, class In, class Value>
void reduce_rows(const In* x, std::int64_t rows, std::int64_t n, Value* out) {
  const std::int64_t chunks = (n + kChunk - 1) / kChunk;
  if (chunks <= 1) {
    for_blocks(rows, std::max<std::int64_t>(1, kChunk / n), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) out[row] = reduce_chunk<Reducer, In, Value>(x + row * n, n);
    });
    return;
  }
  const std::unique_ptr<Value[]> partial(new Value[static_cast<std::size_t>(rows * chunks)]);
  for_blocks(rows * chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t row = unit / chunks, at = unit % chunks * kChunk;
      partial[static_cast<std::size_t>(unit)] =
          reduce_chunk<Reducer, In, Value>(x + row * n + at, std::min(kChunk, n - at));
    }
  });
  for (std::int64_t row = 0; row < rows; ++row) {
    combine_pairwise<Reducer>(partial.get() + row * chunks, chunks, 1);
    out[row] = partial[static_cast<std::size_t>(row * chunks)];
  }
}

/// `rows` rows of `width` columns, `step` apart, into one.
template <class Reducer, class In, class Value>
void reduce_column_chunk(const In* x, std::int64_t rows, std::int64_t step, std::int64_t width, Value* out) {
  std::fill_n(out, width, Reducer::template identity<Value>());
  Value leaf[kColumns];
  for (std::int64_t first = 0; first < rows; first += kLeafRows) {
    const std::int64_t end = std::min(rows, first + kLeafRows);
    const In* row = x + first * step;
    if constexpr (has_vector_fold<Reducer, In, Value>) {
      vector_fold<In>(Reducer::kFold).rows(row, end - first, step, width, leaf);
    } else {
      for (std::int64_t k = 0; k < width; ++k) leaf[k] = Reducer::template load<Value>(row[k]);
      for (std::int64_t i = first + 1; i < end; ++i) {
        row = x + i * step;
        for (std::int64_t k = 0; k < width; ++k) leaf[k] = Reducer{}(leaf[k], Reducer::template load<Value>(row[k]));
      }
    }
    for (std::int64_t k = 0; k < width; ++k) out[k] = Reducer{}(out[k], leaf[k]);
  }
}

/// x is [outer, n, inner], out [outer, inner].
template <class Reducer, class In, class Value>
void reduce_columns(const In* x, std::int64_t outer, std::int64_t n, std::int64_t inner, Value* out) {
  const std::int64_t width = std::min(inner, kColumns), bands = (inner + width - 1) / width;
  const std::int64_t rows_per_chunk = std::max(kLeafRows, kChunk / width);
  const std::int64_t chunks = (n + rows_per_chunk - 1) / rows_per_chunk;
  std::unique_ptr<Value[]> partial;
  if (chunks > 1) partial.reset(new Value[static_cast<std::size_t>(outer * chunks * inner)]);
  Value* to = chunks > 1 ? partial.get() : out;
  const std::int64_t per_unit = width * std::min(n, rows_per_chunk);
  for_blocks(outer * chunks * bands, std::max<std::int64_t>(1, kChunk / per_unit),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t unit = begin; unit < end; ++unit) {
                 const std::int64_t group = unit / bands, column = unit % bands * width;
                 const std::int64_t first = group % chunks * rows_per_chunk;
                 reduce_column_chunk<Reducer, In, Value>(x + (group / chunks * n + first) * inner + column,
                                                         std::min(rows_per_chunk, n - first), inner,
                                                         std::min(width, inner - column), to + group * inner + column);
               }
             });
  if (chunks <= 1) return;
  for (std::int64_t i = 0; i < outer; ++i) {
    combine_pairwise<Reducer>(to + i * chunks * inner, chunks, inner);
    std::copy_n(to + i * chunks * inner, inner, out + i * inner);
  }
}

template <class Reducer, class In, class Value>
void reduce_pass(const In* x, std::int64_t outer, std::int64_t n, std::int64_t inner, Value* out) {
  if (inner == 1)
    reduce_rows<Reducer>(x, outer, n, out);
  else
    reduce_columns<Reducer>(x, outer, n, inner, out);
}

/// A reducer for the passes after the first: their input is what the first made.
template <class Reducer>
struct Again : Reducer {
  static constexpr Fold kFold = Reducer::kFold == Fold::squares ? Fold::sum : Reducer::kFold;
  template <class Value, class In>
  static Value load(In x) {
    return x;
  }
};

}  // namespace detail

/// Reduces x as the plan says into `out`, in the type `Value`. A reducer combines two values, knows the identity, and
/// loads an element.
template <class Reducer, class In, class Value>
void reduce(ReducePlan plan, const In* x, std::int64_t count, Value* out, std::int64_t out_count) {
  if (count == 0) {
    std::fill_n(out, out_count, Reducer::template identity<Value>());
    return;
  }
  std::int64_t outer = count, inner = 1;
  std::unique_ptr<Value[]> before;
  while (!plan.dims.empty()) {
    const ReducePlan::Dim dim = plan.dims.back();
    plan.dims.pop_back();
    outer /= dim.size;
    if (!dim.is_reduced) {
      inner *= dim.size;
      continue;
    }
    const bool is_last = outer * inner == out_count;
    std::unique_ptr<Value[]> made;
    if (!is_last) made.reset(new Value[static_cast<std::size_t>(outer * inner)]);
    Value* to = is_last ? out : made.get();
    if (before)
      detail::reduce_pass<detail::Again<Reducer>, Value, Value>(before.get(), outer, dim.size, inner, to);
    else
      detail::reduce_pass<Reducer, In, Value>(x, outer, dim.size, inner, to);
    if (is_last) return;
    before = std::move(made);
  }
  for (std::int64_t i = 0; i < out_count; ++i) out[i] = Reducer::template load<Value>(x[i]);  // nothing to reduce
}

}  // namespace capstan::cpu
