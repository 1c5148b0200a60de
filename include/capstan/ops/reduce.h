// Reductions. `reduce_sum(x)` reduces everything to a scalar, `reduce_sum(x, {.axis = {0, -1}, .keepdims = true})` some
// axes; a negative axis counts from the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "capstan/tensor/tensor.h"

namespace capstan {

/// A list of axes; all of them unless given. An empty list `Axes(std::vector<std::int64_t>{})` reduces nothing.
class Axes {
 public:
  Axes() = default;
  Axes(std::int64_t axis) : list_(std::vector{axis}) {}
  Axes(std::initializer_list<std::int64_t> axes) : list_(axes) {}
  Axes(std::vector<std::int64_t> axes) : list_(std::move(axes)) {}
  bool is_all() const noexcept { return !list_; }
  const std::vector<std::int64_t>& list() const { return *list_; }

 private:
  std::optional<std::vector<std::int64_t>> list_;
};

struct ReduceOptions {
  Axes axis = {};
  bool keepdims = false;  // keep the reduced axes, with size 1
};

/// Sum; 0 over nothing.
Tensor reduce_sum(Tensor x, const ReduceOptions& options = {});
/// Arithmetic mean; NaN over nothing. Integers are divided towards zero.
Tensor reduce_mean(Tensor x, const ReduceOptions& options = {});
/// Product; 1 over nothing.
Tensor reduce_prod(Tensor x, const ReduceOptions& options = {});
/// Largest and smallest element; over nothing the smallest and the largest value of the type. NaN if any is NaN. Equal
/// extremes share the gradient.
Tensor reduce_max(Tensor x, const ReduceOptions& options = {});
Tensor reduce_min(Tensor x, const ReduceOptions& options = {});
/// Are all, is any of the bool elements true?
Tensor reduce_all(Tensor x, const ReduceOptions& options = {});
Tensor reduce_any(Tensor x, const ReduceOptions& options = {});
/// Square root of the sum of squares.
Tensor reduce_euclidean_norm(Tensor x, const ReduceOptions& options = {});

/// Mean of the squared distances to the mean, and its square root.
Tensor reduce_variance(Tensor x, const ReduceOptions& options = {});
Tensor reduce_std(Tensor x, const ReduceOptions& options = {});
/// log(sum(exp(x))), computed so that it neither overflows nor loses small numbers; -infinity over nothing.
Tensor reduce_logsumexp(Tensor x, const ReduceOptions& options = {});
/// Euclidean length. Its gradient is NaN at length 0, where the length has none; `l2_normalize` is safe there.
Tensor norm(Tensor x, const ReduceOptions& options = {});
/// x divided by its Euclidean length along some axes, as if the squared length were at least `epsilon`.
Tensor l2_normalize(Tensor x, const Axes& axis, double epsilon = 1e-12);

/// Index of the largest and of the smallest element along an axis, the first of equal ones.
Tensor argmax(Tensor x, std::int64_t axis = 0, DType output_type = DType::int64);
Tensor argmin(Tensor x, std::int64_t axis = 0, DType output_type = DType::int64);

struct ScanOptions {
  bool exclusive = false;  // each element combines those before it, without itself
  bool reverse = false;    // from the end
};
/// Sum and product of the elements up to each one along an axis.
Tensor cumsum(Tensor x, std::int64_t axis = 0, const ScanOptions& options = {});
Tensor cumprod(Tensor x, std::int64_t axis = 0, const ScanOptions& options = {});

}  // namespace capstan
