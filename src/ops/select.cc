// Choosing between two tensors, and bounding values; elementwise.
#include "capstan/ops/select.h"

#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "ops/math.h"
#include "ops/records.h"
#include "ops/select.h"

namespace capstan {
namespace {

/// The condition has the shape of the others, or is a scalar, or a vector that chooses among rows.
void select_shape(InferContext& context) {
  Shape chosen = context.merge(context.input_shape(1), context.input_shape(2), "the shapes of 't' and 'e'");
  const Shape& condition = context.input_shape(0);
  if (condition.has_rank() && chosen.has_rank() && !condition.is_scalar()) {
    if (condition.rank() == 1 && chosen.rank() > 1) {
      const Shape rows = context.merge(Shape{chosen[0]}, condition, "the rows of 't' and the length of 'condition'");
      chosen.set_dim(0, rows[0]);
    } else {
      chosen = context.merge(chosen, condition, "the shapes of 't' and 'condition'");
    }
  }
  context.set_output(0, chosen);
}

Tensor zero_like(const Tensor& x) { return constant_as(constant(0), x.dtype()); }

/// dy where it was chosen, summed to the shapes of the two.
Gradients choice_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& condition = call.input(0);
  Gradients gradients(3);
  if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, where(condition, dy, zero_like(dy)));
  if (call.needs_gradient(2)) gradients[2] = unbroadcast(call, 2, where(condition, zero_like(dy), dy));
  return gradients;
}

/// `clip_value_min` and `clip_value_max` are scalars or have the shape of 't'.
void clip_shape(InferContext& context) {
  Shape output = context.input_shape(0);
  for (std::size_t i : {1, 2}) {
    const Shape& bound = context.input_shape(i);
    if (bound.has_rank() && !bound.is_scalar())
      output = context.merge(
          output, bound, i == 1 ? "the shapes of 't' and 'clip_value_min'" : "the shapes of 't' and 'clip_value_max'");
  }
  context.set_output(0, output);
}

Tensor apply_select(const Tensor& condition, Operand& x, Operand& y) {
  if (x.is_number())
    x.match(y);
  else if (y.is_number())
    y.match(x);
  return apply(select_v2_op, {condition, x.input(), y.input()});
}

}  // namespace

const OpDef select_op{
    .signature = "Select(condition: bool, t: T, e: T) -> (output: T); T: any",
    .summary = "t where the condition is true, else e; a vector of conditions chooses among rows.",
    .shape = select_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Tensor condition = call.input(0);
          if (condition.rank() == 1 && dy.rank() > 1) {
            Shape column = condition.shape();
            while (column.rank() < dy.rank()) column.push_back(1);
            condition = reshape(condition, column);
          }
          return Gradients{Gradient(), where(condition, dy, zero_like(dy)), where(condition, zero_like(dy), dy)};
        },
    .forward = forward::linear({1, 2}),
    .saves = Saves::only({0}),
    .facts = {.elementwise = true},
};

const OpDef select_v2_op{
    .signature = "SelectV2(condition: bool, t: T, e: T) -> (output: T); T: any",
    .summary = "t where the condition is true, else e; all three broadcast.",
    .shape = shape::broadcast_all,
    .gradient = [](const OpCall& call, Tensor dy) { return choice_gradient(call, dy); },
    .batching = batching::elementwise,
    .forward = forward::linear({1, 2}),
    .saves = Saves::only({0}),
    .facts = {.elementwise = true},
};

const OpDef clip_by_value_op{
    .signature = "ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> (output: T); T: real",
    .summary = "t bounded by two values.",
    .shape = clip_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          const Tensor zero = zero_like(dy);
          const Tensor is_below = call.input(0)<call.input(1), is_above = call.input(0)> call.input(2);
          Gradients gradients(3);
          gradients[0] = where(is_below || is_above, zero, dy);
          if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, where(is_below, dy, zero));
          if (call.needs_gradient(2)) gradients[2] = unbroadcast(call, 2, where(is_above, dy, zero));
          return gradients;
        },
    .saves = Saves::all_inputs(),
    .facts = {.elementwise = true},
};

Tensor where(Tensor condition, Operand x, Operand y) { return apply_select(condition, x, y); }
Tensor clip_by_value(Operand x, Operand low, Operand high) {
  if (high.is_number()) high.match(x);
  if (low.is_number()) low.match(x);
  return apply(maximum_op, {apply(minimum_op, {x.input(), high.input()}), low.input()});
}

OpList select_ops() {
  static constexpr const OpDef* list[] = {&select_op, &select_v2_op, &clip_by_value_op};
  return list;
}

}  // namespace capstan
