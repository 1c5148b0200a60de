#include "autodiff/fit.h"

#include "capstan/base/error.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

const Tensor& values_of(const Gradient& gradient, Tensor& dense) {
  if (gradient.is_slices()) return gradient.slices().values;
  return dense = gradient.tensor();
}

bool are_rows_of(const Shape& rows, const Shape& value) {
  if (!rows.has_rank() || !value.has_rank()) return true;
  if (rows.rank() != value.rank() || rows.rank() == 0) return false;
  for (int i = 1; i < rows.rank(); ++i)
    if (rows[i] >= 0 && value[i] >= 0 && rows[i] != value[i]) return false;
  return true;
}

/// The shape that slices claim for the whole; unknown if they do not tell.
Shape claimed_shape(const IndexedSlices& slices) {
  const Tensor& dense = slices.dense_shape;
  return dense.is_defined() && !dense.is_symbolic() ? Shape(integers_of(dense)) : Shape::unknown();
}

bool has_shape(const Gradient& gradient, const Shape& values, const Shape& expected) {
  if (!gradient.is_slices()) return values.is_compatible_with(expected);
  return are_rows_of(values, expected) && claimed_shape(gradient.slices()).is_compatible_with(expected);
}

}  // namespace

bool fits(const Gradient& gradient, const TensorSpec& value) {
  Tensor dense;
  const Tensor& values = values_of(gradient, dense);
  return values.dtype() == value.dtype && has_shape(gradient, values.shape(), value.shape);
}

void throw_misfit(const std::string& what, const Gradient& gradient, const TensorSpec& value) {
  Tensor dense;
  const Tensor& values = values_of(gradient, dense);
  if (values.dtype() != value.dtype)
    throw TypeError(what + " must have its type " + std::string(dtype_name(value.dtype)) + ", got " +
                    std::string(dtype_name(values.dtype())));
  std::string got = values.shape().to_string();
  if (gradient.is_slices())
    got = "rows of shape " + got + " of a whole of shape " + claimed_shape(gradient.slices()).to_string();
  throw InvalidArgument(what + " must have its shape " + value.shape.to_string() + ", got " + got);
}

void check_fit(const std::string& name, std::span<const Gradient> gradients, std::span<const TensorSpec> values,
               const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (gradients[i].has_value() && is_trainable(values[i].dtype) && !fits(gradients[i], values[i]))
      throw_misfit(name + ": the gradient of " + what + " " + std::to_string(i), gradients[i], values[i]);
}

}  // namespace capstan
