// Dimensions in another order.
#include <algorithm>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/records.h"
#include "ops/shape.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// x, perm: vector with one element per dimension of x.
void transpose_shape(InferContext& context) {
  const Shape& x = context.input_shape(0);
  const Shape& perm = context.input_shape(1);
  context.require_rank(1, 1, "perm");
  const std::int64_t length = perm.has_rank() ? perm[0] : Shape::kUnknown;
  if (x.has_rank() && length >= 0 && length != x.rank())
    context.fail("'perm' must have one element per dimension of x, got " + std::to_string(length) +
                 " elements for shape " + x.to_string());
  const std::int64_t rank = x.has_rank() ? x.rank() : length;
  if (rank < 0) return context.set_output(0, Shape::unknown());
  if (rank > Shape::kMaxRank)
    context.fail("at most 254 dimensions are possible, got 'perm' with " + std::to_string(rank));
  Shape output = Shape::unknown_dims(static_cast<int>(rank));
  if (!context.input_value(1)) {
    // All orders of at most one dimension are the same.
    return context.set_output(0, rank <= 1 && x.has_rank() ? x : output);
  }
  std::vector<bool> is_used(static_cast<std::size_t>(rank));
  const std::vector<std::int64_t> order = context.integers(1);
  for (int i = 0; i < output.rank(); ++i) {
    const int from = context.normalize_axis(order[static_cast<std::size_t>(i)], output.rank(), "perm");
    if (is_used[static_cast<std::size_t>(from)])
      context.fail("'perm' must name each dimension once, got dimension " + std::to_string(from) + " twice");
    is_used[static_cast<std::size_t>(from)] = true;
    if (x.has_rank()) output.set_dim(i, x[from]);
  }
  context.set_output(0, output);
}

std::vector<Tensor> transpose_batching(const OpCall& call, std::span<const bool>) {
  std::vector<std::int64_t> perm = integers_of(call.input(1));
  for (std::int64_t& axis : perm) axis = axis < 0 ? axis + call.input(0).rank() : axis + 1;
  perm.insert(perm.begin(), 0);
  return {transpose(call.input(0), perm)};
}

Tensor undone(const Tensor& perm) {
  if (perm.is_symbolic()) return invert_permutation(perm);
  const std::vector<std::int64_t> order = integers_of(perm);
  std::vector<std::int32_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(order.size());
    back[static_cast<std::size_t>(order[i] < 0 ? order[i] + rank : order[i])] = static_cast<std::int32_t>(i);
  }
  return constant(back);
}

}  // namespace

const OpDef transpose_op{
    .signature = "Transpose(x: T, perm: Tperm) -> (y: T); T: any; Tperm: {int32, int64}",
    .summary = "The dimensions in another order.",
    .shape = transpose_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return transpose(std::move(dy), undone(call.input(1))); },
    .batching = transpose_batching,
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

const OpDef invert_permutation_op{
    .signature = "InvertPermutation(x: T) -> (y: T); T: {int32, int64}",
    .summary = "The permutation that undoes another.",
    .shape =
        [](InferContext& context) {
          context.require_rank(0, 1, "x");
          context.set_output(0, context.input_shape(0).has_rank() ? context.input_shape(0) : Shape::unknown_dims(1));
        },
    .gradient = not_differentiable,
};

Tensor transpose(Tensor x, Tensor perm) { return apply(transpose_op, {std::move(x), perm}); }
Tensor transpose(Tensor x, const std::vector<std::int64_t>& perm) { return transpose(std::move(x), axes_tensor(perm)); }
Tensor transpose(Tensor x) {
  const int rank = x.rank();
  if (rank < 0)
    throw InvalidArgument("transpose: the number of dimensions must be known, got shape " + x.shape().to_string());
  std::vector<std::int32_t> reversed(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) reversed[static_cast<std::size_t>(i)] = rank - 1 - i;
  return transpose(std::move(x), constant(reversed));
}
Tensor invert_permutation(Tensor perm) { return apply(invert_permutation_op, {std::move(perm)}); }

OpList transpose_ops() {
  static constexpr const OpDef* list[] = {&transpose_op, &invert_permutation_op};
  return list;
}

}  // namespace capstan
