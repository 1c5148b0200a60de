// Reversing and rolling.
#include "ops/reverse.h"

#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// tensor, axis: vector of different axes.
void reverse_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank(1, 1, "axis");
  if (context.input_value(1) && input.has_rank()) {
    std::vector<bool> is_named(static_cast<std::size_t>(input.rank()));
    for (std::int64_t axis : context.integers(1)) {
      auto&& named = is_named[static_cast<std::size_t>(context.normalize_axis(axis, input.rank(), "axis"))];
      if (named) context.fail("'axis' names dimension " + std::to_string(axis) + " twice");
      named = true;
    }
  }
  context.set_output(0, input);
}

/// input, shift, axis: scalars, or vectors of one length.
void roll_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank_at_least(0, 1, "input");
  for (std::size_t i : {1, 2})
    if (context.input_shape(i).rank() > 1)
      context.fail(std::string(i == 1 ? "'shift'" : "'axis'") + " must be a scalar or a vector, got shape " +
                   context.input_shape(i).to_string());
  context.merge(context.input_shape(1), context.input_shape(2), "the shapes of 'shift' and 'axis'");
  if (context.input_value(2) && input.has_rank())
    for (std::int64_t axis : context.integers(2)) context.normalize_axis(axis, input.rank(), "axis");
  context.set_output(0, input);
}

}  // namespace

const OpDef reverse_v2_op{
    .signature = "ReverseV2(tensor: T, axis: Tidx) -> (output: T); T: number|bool|string; Tidx: {int32, int64}",
    .summary = "Reversed along some axes.",
    .shape = reverse_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(reverse_v2_op, {std::move(dy), call.input(1)});
        },
    .batching =
        [](const OpCall& call, std::span<const bool>) {
          return apply_all(call.op(), {call.input(0), batching::axes_behind_batch(call.input(1))});
        },
    .forward = forward::linear({0}),
    .saves = Saves::only({1}),
};

const OpDef roll_op{
    .signature =
        "Roll(input: T, shift: Tshift, axis: Taxis) -> (output: T); T: any; Tshift: {int32, int64}; "
        "Taxis: {int32, int64}",
    .summary = "Shifted along some axes; what leaves at one end enters at the other.",
    .shape = roll_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(roll_op, {std::move(dy), negative(call.input(1)), call.input(2)});
        },
    .batching =
        [](const OpCall& call, std::span<const bool>) {
          return apply_all(call.op(), {call.input(0), call.input(1), batching::axes_behind_batch(call.input(2))});
        },
    .forward = forward::linear({0}),
    .saves = Saves::only({1, 2}),
};

Tensor reverse(Tensor x, const std::vector<std::int64_t>& axes) {
  return apply(reverse_v2_op, {std::move(x), constant(axes)});
}
Tensor roll(Tensor x, const std::vector<std::int64_t>& shifts, const std::vector<std::int64_t>& axes) {
  return apply(roll_op, {std::move(x), constant(shifts), constant(axes)});
}
Tensor roll(Tensor x, std::int64_t shift, std::int64_t axis) {
  return apply(roll_op, {std::move(x), constant(shift), constant(axis)});
}

OpList reverse_ops() {
  static constexpr const OpDef* list[] = {&reverse_v2_op, &roll_op};
  return list;
}

}  // namespace capstan
