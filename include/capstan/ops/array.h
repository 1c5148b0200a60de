// Arrays and shapes: making tensors, changing their shape, picking and joining parts.
#pragma once

#include <span>

#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// The same elements in another shape; one dimension may be -1, which is then what is left over.
Tensor reshape(Tensor x, const Shape& shape);
Tensor reshape(Tensor x, Tensor shape);
/// The value repeated along dimensions of size 1 and new leading ones.
Tensor broadcast_to(Tensor x, const Shape& shape);
Tensor broadcast_to(Tensor x, Tensor shape);
/// A tensor of `shape` full of the scalar `value`.
Tensor fill(const Shape& shape, Tensor value);
Tensor fill(Tensor shape, Tensor value);
Tensor zeros(const Shape& shape, DType dtype = DType::float32);
Tensor ones(const Shape& shape, DType dtype = DType::float32);
Tensor zeros_like(Tensor x);
Tensor ones_like(Tensor x);
/// The same value as a new tensor, with a gradient of its own.
Tensor identity(Tensor x);
/// The same value; no gradient flows back through it.
Tensor stop_gradient(Tensor x);
/// The shape as an int32 vector (int64 on request): TensorFlow's `tf.shape`. (`shape` itself names the shape functions.)
Tensor shape_of(Tensor x, DType out_type = DType::int32);
/// A shape as an int32 vector, or int64 if a dimension needs it.
Tensor shape_tensor(const Shape& shape);

}  // namespace capstan
