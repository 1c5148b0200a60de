// Kernels of softmax and the cross entropies. Each row is done in float or double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/elementwise.h"
#include "cpu/scratch.h"
#include "cpu/softmax_rows.h"
#include "cpu/tables.h"
#include "ops/nn.h"

namespace capstan::cpu {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

using cpu::row_exp;
using cpu::row_exp_sum;
using cpu::row_max;
using cpu::row_scale;
// The same for double, by the C library.
double row_max(const double* x, std::int64_t n) {
  double best = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}
double row_exp(const double* x, double shift, double* out, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += out[i] = std::exp(x[i] - shift);
  return sum;
}
double row_exp_sum(const double* x, double shift, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - shift);
  return sum;
}
void row_scale(double* x, double factor, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
}

/// A row in the type that is computed in: itself, or a copy.
template <class T>
class Row {
 public:
  explicit Row(std::int64_t n) : n_(n), copy_(std::is_same_v<T, Wide<T>> ? 0 : static_cast<std::size_t>(n)) {}
  const Wide<T>* read(const T* x) {
    if constexpr (std::is_same_v<T, Wide<T>>)
      return x;
    else {
      std::copy_n(x, n_, copy_.data());
      return copy_.data();
    }
  }
  Wide<T>* target(T* x) {
    if constexpr (std::is_same_v<T, Wide<T>>)
      return x;
    else
      return copy_.data();
  }
  void write(T* x) {
    if constexpr (!std::is_same_v<T, Wide<T>>)
      for (std::int64_t i = 0; i < n_; ++i) x[i] = static_cast<T>(copy_.data()[i]);
  }

 private:
  std::int64_t n_;
  Scratch<Wide<T>> copy_;
};

/// Calls `body(first row, past the last)` for blocks of rows.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t n, Body&& body) {
  for_blocks(rows, std::max<std::int64_t>(1, kElementsPerBlock / 4 / std::max<std::int64_t>(1, n)), body);
}

template <class T, bool kLog>
void softmax_kernel(KernelContext& context) {
  using W = Wide<T>;
  const std::int64_t n = context.input(0).shape()[context.input(0).rank() - 1];
  const T* x = context.data<T>(0);
  T* out = context.make_output_over<T>(0, 0);
  if (n == 0) return;
  for_rows(context.output(0).size() / n, n, [&](std::int64_t begin, std::int64_t end) {
    Row<T> in(n), result(n);
    for (std::int64_t row = begin; row < end; ++row) {
      const W* from = in.read(x + row * n);
      W* to = result.target(out + row * n);
      const W most = row_max(from, n);
      if constexpr (kLog) {
        const W log_sum = std::log(row_exp_sum(from, most, n));
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] - most - log_sum;
      } else {
        row_scale(to, W(1) / row_exp(from, most, to, n), n);
      }
      result.write(out + row * n);
    }
  });
}

/// A matrix that broadcasts: its row `i` of `n` elements, repeated where it has one.
template <class T>
class Rows {
 public:
  Rows(const T* data, const Shape& shape, std::int64_t n)
      : data_(data),
        step_(shape[0] == 1 ? 0 : shape[1]),
        repeats_(shape[1] == 1),
        n_(n),
        copy_(static_cast<std::size_t>(n)) {}
  const Wide<T>* row(std::int64_t i) {
    const T* from = data_ + i * step_;
    if (repeats_) {
      std::fill_n(copy_.data(), n_, static_cast<Wide<T>>(*from));
      return copy_.data();
    }
    if constexpr (std::is_same_v<T, Wide<T>>)
      return from;
    else {
      std::copy_n(from, n_, copy_.data());
      return copy_.data();
    }
  }

 private:
  const T* data_;
  std::int64_t step_;
  bool repeats_;
  std::int64_t n_;
  Scratch<Wide<T>> copy_;
};

template <class T>
void cross_entropy_kernel(KernelContext& context) {
  using W = Wide<T>;
  const Shape& shape = context.output_spec(1).shape;
  const std::int64_t n = shape[1];
  T* loss = context.make_output<T>(0);
  T* backprop = context.make_output<T>(1);
  if (context.output(1).size() == 0) return;
  for_rows(shape[0], n, [&](std::int64_t begin, std::int64_t end) {
    Rows<T> features(context.data<T>(0), context.input(0).shape(), n),
        labels(context.data<T>(1), context.input(1).shape(), n);
    Row<T> result(n);
    for (std::int64_t i = begin; i < end; ++i) {
      const W *x = features.row(i), *label = labels.row(i);
      W* to = result.target(backprop + i * n);
      const W most = row_max(x, n), sum = row_exp(x, most, to, n), log_sum = std::log(sum);
      W total = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        total += label[k] * (log_sum - (x[k] - most));
        to[k] = to[k] / sum - label[k];
      }
      loss[i] = static_cast<T>(total);
      result.write(backprop + i * n);
    }
  });
}

template <class Label>
void check_labels(KernelContext& context, std::int64_t classes) {
  const Label* labels = context.data<Label>(1);
  for (std::int64_t i = 0; i < context.input(1).size(); ++i)
    if (labels[i] < 0 || labels[i] >= classes)
      context.fail("labels must be in [0, " + std::to_string(classes) + "), got " + std::to_string(labels[i]) +
                   " in row " + std::to_string(i));
}

template <class T, class Label>
void sparse_cross_entropy(KernelContext& context) {
  using W = Wide<T>;
  const Shape& shape = context.input(0).shape();
  const std::int64_t n = shape[1];
  check_labels<Label>(context, n);
  const T* features = context.data<T>(0);
  const Label* labels = context.data<Label>(1);
  T* loss = context.make_output<T>(0);
  T* backprop = context.make_output<T>(1);
  for_rows(shape[0], n, [&](std::int64_t begin, std::int64_t end) {
    Row<T> in(n), result(n);
    for (std::int64_t i = begin; i < end; ++i) {
      const W* x = in.read(features + i * n);
      W* to = result.target(backprop + i * n);
      const W most = row_max(x, n), sum = row_exp(x, most, to, n);
      row_scale(to, W(1) / sum, n);
      const auto label = static_cast<std::int64_t>(labels[i]);
      loss[i] = static_cast<T>(std::log(sum) - (x[label] - most));
      to[label] -= W(1);
      result.write(backprop + i * n);
    }
  });
}

template <class T>
void sparse_cross_entropy_kernel(KernelContext& context) {
  if (context.input(1).dtype() == DType::int32)
    sparse_cross_entropy<T, std::int32_t>(context);
  else
    sparse_cross_entropy<T, std::int64_t>(context);
}

constexpr KernelSet floating(Kernel half, Kernel bfloat, Kernel single, Kernel twice) {
  KernelSet kernels;
  return kernels.set(DType::float16, half)
      .set(DType::bfloat16, bfloat)
      .set(DType::float32, single)
      .set(DType::float64, twice);
}

}  // namespace

KernelTable softmax_kernels() {
  static const KernelRow rows[] = {
      {&softmax_op, floating(softmax_kernel<float16, false>, softmax_kernel<bfloat16, false>,
                             softmax_kernel<float, false>, softmax_kernel<double, false>)},
      {&log_softmax_op, floating(softmax_kernel<float16, true>, softmax_kernel<bfloat16, true>,
                                 softmax_kernel<float, true>, softmax_kernel<double, true>)},
      {&softmax_cross_entropy_op, floating(cross_entropy_kernel<float16>, cross_entropy_kernel<bfloat16>,
                                           cross_entropy_kernel<float>, cross_entropy_kernel<double>)},
      {&sparse_softmax_cross_entropy_op,
       floating(sparse_cross_entropy_kernel<float16>, sparse_cross_entropy_kernel<bfloat16>,
                sparse_cross_entropy_kernel<float>, sparse_cross_entropy_kernel<double>)},
  };
  return rows;
}

}  // namespace capstan::cpu
