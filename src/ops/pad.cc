// Padding and repeating.
#include "ops/pad.h"

#include "capstan/ops/array.h"
#include "capstan/ops/reduce.h"
#include "ops/records.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// The rank that the input (0) and the paddings (1) agree on; -1 if neither tells.
int padded_rank(InferContext& context) {
  const Shape& input = context.input_shape(0);
  const Shape& paddings = context.input_shape(1);
  context.require_rank(1, 2, "paddings");
  if (!paddings.is_compatible_with(input.has_rank() ? Shape{input.rank(), 2} : Shape{Shape::kUnknown, 2}))
    context.fail("'paddings' must have the shape [number of dimensions, 2], got " + paddings.to_string() +
                 " for an input of shape " + input.to_string());
  if (input.has_rank()) return input.rank();
  if (!paddings.has_rank() || paddings[0] < 0) return Shape::kUnknown;
  if (paddings[0] > Shape::kMaxRank)
    context.fail("at most 254 dimensions are possible, got paddings for " + std::to_string(paddings[0]));
  return static_cast<int>(paddings[0]);
}

/// Calls `size_of(size, before, after, axis)` for each dimension to make the output's shape.
template <class SizeOf>
void padded_shape(InferContext& context, SizeOf&& size_of) {
  const int rank = padded_rank(context);
  if (rank < 0) return context.set_output(0, Shape::unknown());
  if (!context.input_value(1)) return context.set_output(0, Shape::unknown_dims(rank));
  const std::vector<std::int64_t> paddings = context.integers(1);
  const Shape input = context.input_shape(0).has_rank() ? context.input_shape(0) : Shape::unknown_dims(rank);
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t before = paddings[2 * static_cast<std::size_t>(axis)];
    const std::int64_t after = paddings[2 * static_cast<std::size_t>(axis) + 1];
    if (before < 0 || after < 0)
      context.fail("'paddings' must not be negative, got " + std::to_string(before) + " and " + std::to_string(after) +
                   " for dimension " + std::to_string(axis));
    dims.push_back(size_of(input[axis], before, after, axis));
  }
  shape::set_output(context, 0, dims);
}

std::int64_t grown(InferContext& context, std::int64_t size, std::int64_t before, std::int64_t after, int axis) {
  if (size < 0) return Shape::kUnknown;
  std::int64_t sum;
  if (__builtin_add_overflow(size, before, &sum) || __builtin_add_overflow(sum, after, &sum))
    context.fail("dimension " + std::to_string(axis) + " would not fit into 64 bits: size " + std::to_string(size) +
                 " with paddings " + std::to_string(before) + " and " + std::to_string(after));
  return sum;
}

void pad_shape(InferContext& context) {
  if (context.input_count() == 3) context.require_rank(2, 0, "constant_values");
  padded_shape(context, [&](std::int64_t size, std::int64_t before, std::int64_t after, int axis) {
    return grown(context, size, before, after, axis);
  });
}

/// How much less than its size a dimension can be mirrored.
std::int64_t edge_of(const InferContext& context) {
  const std::string& mode = context.attributes<MirrorPadAttributes>().mode;
  if (mode == "REFLECT") return 1;
  if (mode == "SYMMETRIC") return 0;
  context.fail("'mode' must be REFLECT or SYMMETRIC, got \"" + mode + "\"");
}

void require_mirror(InferContext& context, std::int64_t size, std::int64_t before, std::int64_t after, int axis) {
  const std::int64_t most = size - edge_of(context);
  if (before > most || after > most)
    context.fail("'paddings' of dimension " + std::to_string(axis) + " must be at most " + std::to_string(most) +
                 " for mode " + context.attributes<MirrorPadAttributes>().mode + " and size " + std::to_string(size) +
                 ", got " + std::to_string(before) + " and " + std::to_string(after));
}

void mirror_pad_shape(InferContext& context) {
  edge_of(context);
  padded_shape(context, [&](std::int64_t size, std::int64_t before, std::int64_t after, int axis) {
    if (size >= 0 && (before > 0 || after > 0)) require_mirror(context, size, before, after, axis);
    return grown(context, size, before, after, axis);
  });
}

void mirror_pad_grad_shape(InferContext& context) {
  edge_of(context);
  padded_shape(context, [&](std::int64_t size, std::int64_t before, std::int64_t after, int axis) {
    if (size < 0) return Shape::kUnknown;
    if (before > size || after > size - before)
      context.fail("'paddings' of dimension " + std::to_string(axis) + " must fit into its size " +
                   std::to_string(size) + ", got " + std::to_string(before) + " and " + std::to_string(after));
    const std::int64_t inner = size - before - after;
    if (before > 0 || after > 0) require_mirror(context, inner, before, after, axis);
    return inner;
  });
}

/// input, multiples.
void tile_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank(1, 1, "multiples");
  const std::int64_t length = context.input_shape(1).has_rank() ? context.input_shape(1)[0] : Shape::kUnknown;
  if (input.has_rank() && length >= 0 && length != input.rank())
    context.fail("'multiples' must have one element per dimension of the input, got " + std::to_string(length) +
                 " for shape " + input.to_string());
  const std::int64_t rank = input.has_rank() ? input.rank() : length;
  if (rank < 0) return context.set_output(0, Shape::unknown());
  if (rank > Shape::kMaxRank) context.fail("at most 254 dimensions are possible, got " + std::to_string(rank));
  // Unknown multiples leave sizes of 0 as they are.
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), Shape::kUnknown);
  if (!context.input_value(1)) {
    for (int i = 0; i < input.rank(); ++i)
      if (input[i] == 0) dims[static_cast<std::size_t>(i)] = 0;
    return context.set_output(0, Shape(dims));
  }
  dims = context.integers(1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) context.fail("'multiples' must not be negative, got " + std::to_string(dims[i]));
    const std::int64_t size = input.has_rank() ? input[static_cast<int>(i)] : Shape::kUnknown;
    if (size < 0)
      dims[i] = dims[i] == 0 ? 0 : Shape::kUnknown;
    else if (std::int64_t repeated; !__builtin_mul_overflow(dims[i], size, &repeated))
      dims[i] = repeated;
    else
      context.fail("dimension " + std::to_string(i) + " would not fit into 64 bits: " + std::to_string(dims[i]) +
                   " times " + std::to_string(size));
  }
  shape::set_output(context, 0, dims);
}

/// The part of dy where the input stood.
Tensor unpadded(const OpCall& call, const Tensor& dy) {
  const Tensor& paddings = call.input(1);
  const DType dtype = paddings.dtype();
  if (paddings.is_symbolic()) {
    const Tensor before = slice(paddings, constant({0, 0}, dtype), constant({-1, 1}, dtype));
    return slice(dy, reshape(before, Shape{-1}), shape_of_input(call, 0, dtype));
  }
  const std::vector<std::int64_t> sizes = integers_of(paddings);
  std::vector<std::int64_t> before;
  for (std::size_t i = 0; i < sizes.size(); i += 2) before.push_back(sizes[i]);
  return slice(dy, constant(before), shape_of_input(call, 0, DType::int64));
}

/// dy as [multiple, size, multiple, size, ...], summed over the multiples.
Tensor untiled(const OpCall& call, const Tensor& dy) {
  const Tensor& multiples = call.input(1);
  const int rank = call.input_shape(0).rank();
  std::vector<std::int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(2 * i);
  const Tensor sizes = shape_of_input(call, 0, multiples.dtype());
  const Tensor split = reshape(stack({multiples, sizes}, 1), Shape{-1});
  return reduce_sum(reshape(dy, split), {.axis = Axes(axes)});
}

/// Paddings with a row for the batch, which gets none.
Tensor batch_paddings(const Tensor& paddings) {
  std::vector<std::int64_t> sizes = integers_of(paddings);
  sizes.insert(sizes.begin(), {0, 0});
  return constant_as(constant(sizes, Shape{paddings.dim(0) + 1, 2}), paddings.dtype());
}

std::vector<Tensor> pad_batching(const OpCall& call, std::span<const bool>) {
  return apply_all(call.op(), {call.input(0), batch_paddings(call.input(1))}, call.raw_attributes());
}

std::vector<Tensor> tile_batching(const OpCall& call, std::span<const bool>) {
  std::vector<std::int64_t> multiples = integers_of(call.input(1));
  multiples.insert(multiples.begin(), 1);
  return {tile(call.input(0), multiples)};
}

}  // namespace

const OpDef pad_op{
    .signature = "Pad(input: T, paddings: Tpaddings) -> (output: T); T: any; Tpaddings: {int32, int64}",
    .summary = "Zeros around a tensor.",
    .shape = pad_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return unpadded(call, dy); },
    .batching = pad_batching,
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

const OpDef pad_v2_op{
    .signature =
        "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> (output: T); T: any; "
        "Tpaddings: {int32, int64}",
    .summary = "A value around a tensor.",
    .shape = pad_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return unpadded(call, dy); },
    .saves = Saves::only({1}),
};

const OpDef mirror_pad_op{
    .signature = "MirrorPad(input: T, paddings: Tpaddings) -> (output: T); T: any; Tpaddings: {int32, int64}",
    .summary = "Mirror images around a tensor.",
    .shape = mirror_pad_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(mirror_pad_grad_op, {std::move(dy), call.input(1)}, call.raw_attributes());
        },
    .batching = pad_batching,
    .attributes = attributes<MirrorPadAttributes>,
    .saves = Saves::only({1}),
};

const OpDef mirror_pad_grad_op{
    .signature = "MirrorPadGrad(input: T, paddings: Tpaddings) -> (output: T); T: number; Tpaddings: {int32, int64}",
    .summary = "Mirror images added onto what they show: the gradient of MirrorPad.",
    .shape = mirror_pad_grad_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(mirror_pad_op, {std::move(dy), call.input(1)}, call.raw_attributes());
        },
    .batching = pad_batching,
    .attributes = attributes<MirrorPadAttributes>,
    .saves = Saves::only({1}),
};

const OpDef tile_op{
    .signature = "Tile(input: T, multiples: Tmultiples) -> (output: T); T: any; Tmultiples: {int32, int64}",
    .summary = "The whole tensor several times along each dimension.",
    .shape = tile_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return untiled(call, dy); },
    .batching = tile_batching,
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

Tensor pad(Tensor x, Tensor paddings) { return apply(pad_op, {std::move(x), paddings}); }
Tensor pad(Tensor x, Tensor paddings, Tensor value) { return apply(pad_v2_op, {std::move(x), paddings, value}); }
Tensor mirror_pad(Tensor x, Tensor paddings, const std::string& mode) {
  const MirrorPadAttributes attributes{mode};
  return apply(mirror_pad_op, {std::move(x), paddings}, &attributes);
}
Tensor tile(Tensor x, Tensor multiples) { return apply(tile_op, {std::move(x), multiples}); }
Tensor tile(Tensor x, const std::vector<std::int64_t>& multiples) { return tile(std::move(x), constant(multiples)); }

OpList pad_ops() {
  static constexpr const OpDef* list[] = {&pad_op, &pad_v2_op, &mirror_pad_op, &mirror_pad_grad_op, &tile_op};
  return list;
}

}  // namespace capstan
