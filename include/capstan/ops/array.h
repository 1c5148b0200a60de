// Arrays and shapes: making tensors, changing their shape, picking and joining parts.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

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
/// The same values as new tensors.
std::vector<Tensor> identity_n(std::span<const Tensor> tensors);
/// The same value; asking for a gradient through it throws NotFound with this message.
Tensor prevent_gradient(Tensor x, const std::string& message);
/// The same value; no gradient flows back through it.
Tensor stop_gradient(Tensor x);
/// The shape as an int32 vector (int64 on request): TensorFlow's `tf.shape`. (`shape` itself names the shape
/// functions.)
Tensor shape_of(Tensor x, DType out_type = DType::int32);
/// The shapes of several tensors.
std::vector<Tensor> shape_n(std::span<const Tensor> tensors, DType out_type = DType::int32);
/// The number of elements, and of dimensions, as a scalar.
Tensor size_of(Tensor x, DType out_type = DType::int32);
Tensor rank_of(Tensor x);
/// A shape as an int32 vector, or int64 if a dimension needs it.
Tensor shape_tensor(const Shape& shape);

/// A new dimension of size 1 before dimension `axis` of the result.
Tensor expand_dims(Tensor x, std::int64_t axis);
/// Without the given dimensions, which have size 1; without all such dimensions if none are given.
Tensor squeeze(Tensor x, const std::vector<std::int64_t>& axes = {});
/// The value, after its shape was compared with `shape`, which may be partly known. Throws InvalidArgument.
Tensor ensure_shape(Tensor x, const Shape& shape);
/// The dimensions in another order: dimension i of the result is dimension perm[i] of x. Reversed without `perm`.
Tensor transpose(Tensor x);
Tensor transpose(Tensor x, const std::vector<std::int64_t>& perm);
Tensor transpose(Tensor x, Tensor perm);
/// The permutation that undoes `perm`.
Tensor invert_permutation(Tensor perm);

/// Tensors joined along an axis; their other dimensions agree.
Tensor concat(std::span<const Tensor> values, std::int64_t axis);
Tensor concat(std::initializer_list<Tensor> values, std::int64_t axis);
/// Tensors of one shape joined along a new axis.
Tensor stack(std::span<const Tensor> values, std::int64_t axis = 0);
Tensor stack(std::initializer_list<Tensor> values, std::int64_t axis = 0);
/// The members along an axis, which disappears; its size must be known.
std::vector<Tensor> unstack(Tensor x, std::int64_t axis = 0);
/// `count` parts of equal size along an axis.
std::vector<Tensor> split(Tensor x, std::int64_t count, std::int64_t axis = 0);
/// Parts of the given sizes along an axis; one size may be -1, which is then what is left over.
std::vector<Tensor> split(Tensor x, const std::vector<std::int64_t>& sizes, std::int64_t axis = 0);

/// The part of `size` elements (-1: to the end) from `begin` on, in each dimension.
Tensor slice(Tensor x, Tensor begin, Tensor size);
Tensor slice(Tensor x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& size);
/// The whole tensor `multiples[i]` times along each dimension.
Tensor tile(Tensor x, Tensor multiples);
Tensor tile(Tensor x, const std::vector<std::int64_t>& multiples);
/// Zeros (or `value`) around: `paddings` is [rank, 2], how many before and after in each dimension.
Tensor pad(Tensor x, Tensor paddings);
Tensor pad(Tensor x, Tensor paddings, Tensor value);
/// Mirror images around: REFLECT leaves out the edge itself, SYMMETRIC repeats it.
Tensor mirror_pad(Tensor x, Tensor paddings, const std::string& mode);
/// Reversed along some axes.
Tensor reverse(Tensor x, const std::vector<std::int64_t>& axes);
/// Shifted along an axis; what leaves at one end enters at the other.
Tensor roll(Tensor x, std::int64_t shift, std::int64_t axis);
Tensor roll(Tensor x, const std::vector<std::int64_t>& shifts, const std::vector<std::int64_t>& axes);
/// The innermost matrices with everything outside a band set to 0: `lower` diagonals below, `upper` above the main one
/// stay; -1 keeps them all.
Tensor matrix_band_part(Tensor x, std::int64_t lower, std::int64_t upper);

/// `on` at the places that `indices` name along a new axis of size `depth`, `off` elsewhere; indices outside give only
/// `off`.
Tensor one_hot(Tensor indices, std::int32_t depth);
Tensor one_hot(Tensor indices, std::int32_t depth, Tensor on, Tensor off, std::int64_t axis = -1);
/// start, start + delta, ... below `limit` (above it for a negative delta); all of one type.
Tensor range(Tensor start, Tensor limit, Tensor delta);
Tensor range(std::int32_t limit);
Tensor range(std::int32_t start, std::int32_t limit, std::int32_t delta = 1);
/// `count` numbers from start to stop, both included, at equal distances.
Tensor linspace(Tensor start, Tensor stop, std::int32_t count);
/// The shape that two shapes (vectors of int32 or int64) broadcast to.
Tensor broadcast_dynamic_shape(Tensor a, Tensor b);

}  // namespace capstan
