// Slicing.
#include "ops/strided_slice.h"

#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "ops/records.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// input, begin, size.
void slice_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank(1, 1, "begin");
  context.require_rank(2, 1, "size");
  const Shape lengths =
      context.merge(context.input_shape(1), context.input_shape(2), "the lengths of 'begin' and 'size'");
  const std::int64_t length = lengths.has_rank() ? lengths[0] : Shape::kUnknown;
  if (input.has_rank() && length >= 0 && length != input.rank())
    context.fail("'begin' and 'size' must have one element per dimension of the input, got " + std::to_string(length) +
                 " for shape " + input.to_string());
  const std::int64_t rank = input.has_rank() ? input.rank() : length;
  if (rank < 0) return context.set_output(0, Shape::unknown());
  if (rank > Shape::kMaxRank) context.fail("at most 254 dimensions are possible, got " + std::to_string(rank));
  Shape output = Shape::unknown_dims(static_cast<int>(rank));
  if (!context.input_value(2)) return context.set_output(0, output);
  const std::vector<std::int64_t> size = context.integers(2);
  std::vector<std::int64_t> begin(size.size(), -1);
  if (context.input_value(1)) begin = context.integers(1);
  for (int i = 0; i < output.rank(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t whole = input.has_rank() ? input[i] : Shape::kUnknown;
    const auto fail = [&](const std::string& what) {
      context.fail(what + " in dimension " + std::to_string(i) + " of shape " + input.to_string() + ", got begin " +
                   std::to_string(begin[at]) + " and size " + std::to_string(size[at]));
    };
    if (size[at] < -1) fail("'size' must be at least 0, or -1 for all that is left,");
    if (context.input_value(1)) {
      if (begin[at] < 0 || (whole >= 0 && begin[at] > whole)) fail("'begin' must lie inside the input");
      if (size[at] >= 0 && whole >= 0 && size[at] > whole - begin[at]) fail("the slice must lie inside the input");
    }
    if (size[at] >= 0)
      output.set_dim(i, size[at]);
    else if (whole >= 0 && context.input_value(1))
      output.set_dim(i, whole - begin[at]);
  }
  shape::set_output(context, 0, output.dims());
}

/// input, begin, end, strides; or shape, begin, end, strides, dy.
void check_positions(InferContext& context) {
  Shape lengths = context.input_shape(1);
  static constexpr std::string_view kNames[] = {"", "begin", "end", "strides"};
  for (std::size_t i = 1; i <= 3; ++i) {
    context.require_rank(i, 1, kNames[i]);
    lengths = context.merge(lengths, context.input_shape(i), "the lengths of 'begin', 'end' and 'strides'");
  }
}

StridedSlicePlan read_plan(const InferContext& context, const Shape& input) {
  std::vector<std::int64_t> begin, end;
  if (context.input_value(1)) begin = context.integers(1);
  if (context.input_value(2)) end = context.integers(2);
  return plan_strided_slice(context.op_name(), input, context.input_value(1) ? &begin : nullptr,
                            context.input_value(2) ? &end : nullptr, context.integers(3),
                            context.attributes<StridedSliceAttributes>());
}

void strided_slice_shape(InferContext& context) {
  check_positions(context);
  if (!context.input_shape(0).has_rank() || !context.input_value(3)) return context.set_output(0, Shape::unknown());
  shape::set_output(context, 0, read_plan(context, context.input_shape(0)).output);
}

void strided_slice_grad_shape(InferContext& context) {
  check_positions(context);
  const Shape target = context.shape_from_input(0);
  if (target.has_rank() && context.input_value(3)) {
    const Shape expected(read_plan(context, target).output);
    if (!expected.is_compatible_with(context.input_shape(4)))
      context.fail("'dy' must have the shape of the slice, " + expected.to_string() + ", got " +
                   context.input_shape(4).to_string());
  }
  shape::set_output(context, 0, target.dims());
  if (!target.has_rank()) context.set_output(0, target);
}

/// The begin (or the end minus the part) of a slice as the padding that undoes it.
Tensor slice_gradient(const OpCall& call, const Tensor& dy) {
  const Shape& whole = call.input_shape(0);
  const Tensor& begin = call.input(1);
  if (!begin.is_symbolic() && whole.is_fully_known() && dy.shape().is_fully_known()) {
    std::vector<std::int64_t> paddings;
    const std::vector<std::int64_t> before = integers_of(begin);
    for (int i = 0; i < whole.rank(); ++i) {
      paddings.push_back(before[static_cast<std::size_t>(i)]);
      paddings.push_back(whole[i] - dy.shape()[i] - paddings.back());
    }
    return pad(dy, constant(paddings, Shape{whole.rank(), 2}));
  }
  const Tensor after = shape_of_input(call, 0, begin.dtype()) - shape_of(dy, begin.dtype()) - begin;
  return pad(dy, stack({begin, after}, 1));
}

/// The whole batch, of each member the part.
std::vector<Tensor> slice_batching(const OpCall& call, std::span<const bool>) {
  std::vector<std::int64_t> begin = integers_of(call.input(1)), size = integers_of(call.input(2));
  begin.insert(begin.begin(), 0);
  size.insert(size.begin(), -1);
  return {slice(call.input(0), begin, size)};
}

}  // namespace

const OpDef slice_op{
    .signature = "Slice(input: T, begin: Index, size: Index) -> (output: T); T: any; Index: {int32, int64}",
    .summary = "The part of a tensor that begins somewhere and has a given size.",
    .shape = slice_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return slice_gradient(call, dy); },
    .batching = slice_batching,
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

const OpDef strided_slice_op{
    .signature =
        "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> (output: T); T: any; "
        "Index: {int16, int32, int64}",
    .summary = "Every so many-th element between two bounds, per dimension.",
    .shape = strided_slice_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Tensor begin = call.input(1), end = call.input(2), strides = call.input(3);
          const DType dtype = begin.dtype() == DType::int64 ? DType::int64 : DType::int32;
          if (begin.dtype() == DType::int16)
            begin = cast(begin, dtype), end = cast(end, dtype), strides = cast(strides, dtype);
          return apply(strided_slice_grad_op, {shape_of_input(call, 0, dtype), begin, end, strides, dy},
                       call.raw_attributes());
        },
    .forward = forward::linear({0}),
    .attributes = attributes<StridedSliceAttributes>,
    .saves = Saves::only({1, 2, 3}),
};

const OpDef strided_slice_grad_op{
    .signature =
        "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> (output: T); "
        "T: any; Index: {int32, int64}",
    .summary = "dy at the places of a strided slice, zeros elsewhere: the gradient of StridedSlice.",
    .shape = strided_slice_grad_shape,
    .gradient =
        [](const OpCall& call, Tensor dz) {
          return Gradients{{},
                           {},
                           {},
                           {},
                           apply(strided_slice_op, {std::move(dz), call.input(1), call.input(2), call.input(3)},
                                 call.raw_attributes())};
        },
    .forward = forward::linear({4}),
    .attributes = attributes<StridedSliceAttributes>,
    .saves = Saves::only({1, 2, 3}),
};

Tensor slice(Tensor x, Tensor begin, Tensor size) { return apply(slice_op, {std::move(x), begin, size}); }
Tensor slice(Tensor x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& size) {
  return slice(std::move(x), constant(begin), constant(size));
}

OpList strided_slice_ops() {
  static constexpr const OpDef* list[] = {&slice_op, &strided_slice_op, &strided_slice_grad_op};
  return list;
}

}  // namespace capstan
