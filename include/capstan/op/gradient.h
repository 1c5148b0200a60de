// What a gradient can be: nothing, a dense tensor, or `IndexedSlices` (rows of a large array, the rest being zero).
// "Nothing" is not a tensor of zeros: it means that no differentiable path exists.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>

#include "capstan/op/small_vector.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// Rows `indices` of an array of shape `dense_shape` have the values `values`; rows named twice add up.
struct IndexedSlices {
  Tensor values;       // [n, ...]
  Tensor indices;      // [n], int32 or int64
  Tensor dense_shape;  // a vector of integers; may be undefined if it is not known
};

/// The dense tensor that the slices stand for. Throws InvalidArgument if the dense shape is not known.
Tensor to_tensor(const IndexedSlices& slices);

class Gradient {
 public:
  /// Nothing.
  Gradient() noexcept = default;
  Gradient(Tensor dense) noexcept : dense_(std::move(dense)) {}
  Gradient(IndexedSlices slices) : more_(std::make_shared<More>()) { more_->slices = std::move(slices); }
  /// Nothing, and why: the text goes into the error that a use as tensor throws.
  static Gradient missing(std::string reason);

  bool has_value() const noexcept { return dense_.is_defined() || is_slices(); }
  bool is_slices() const noexcept { return more_ && more_->slices.values.is_defined(); }
  /// Throws FailedPrecondition unless `is_slices()`.
  const IndexedSlices& slices() const;
  /// The gradient as a dense tensor; slices are summed into one. Throws MissingGradient if there is none.
  Tensor tensor() const&;
  Tensor tensor() &&;
  operator Tensor() const& { return tensor(); }
  operator Tensor() && { return std::move(*this).tensor(); }
  /// Why there is nothing; empty if there is something.
  std::string reason() const;

 private:
  struct More {
    IndexedSlices slices;
    std::string reason;
  };
  Tensor dense_;
  std::shared_ptr<More> more_;
};

std::ostream& operator<<(std::ostream& out, const Gradient& gradient);

/// The gradients with respect to an op's inputs, in their order.
using Gradients = SmallVector<Gradient, 3>;

}  // namespace capstan
