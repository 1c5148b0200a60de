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

}  // namespace capstan
