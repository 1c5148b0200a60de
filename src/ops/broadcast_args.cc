// Broadcasting two shapes that are values: saved gradients of broadcasting ops hold these.
#include "ops/broadcast_args.h"

#include "capstan/ops/array.h"
#include "ops/records.h"

namespace capstan {
namespace {

void require_vectors(InferContext& context) {
  context.require_rank(0, 1, "s0");
  context.require_rank(1, 1, "s1");
}

void broadcast_args_shape(InferContext& context) {
  require_vectors(context);
  const Shape& a = context.input_shape(0);
  const Shape& b = context.input_shape(1);
  const bool is_known = a.is_fully_known() && b.is_fully_known();
  context.set_output(0, Shape{is_known ? std::max(a[0], b[0]) : Shape::kUnknown});
}

void broadcast_gradient_args_shape(InferContext& context) {
  require_vectors(context);
  for (std::size_t i = 0; i < 2; ++i) context.set_output(i, Shape{Shape::kUnknown});
}

}  // namespace

const OpDef broadcast_args_op{
    .signature = "BroadcastArgs(s0: T, s1: T) -> (r0: T); T: {int32, int64}",
    .summary = "The shape that two shapes broadcast to.",
    .shape = broadcast_args_shape,
    .gradient = not_differentiable,
};

const OpDef broadcast_gradient_args_op{
    .signature = "BroadcastGradientArgs(s0: T, s1: T) -> (r0: T, r1: T); T: {int32, int64}",
    .summary = "The axes over which the gradients of two broadcast shapes are summed.",
    .shape = broadcast_gradient_args_shape,
    .gradient = not_differentiable,
};

Tensor broadcast_dynamic_shape(Tensor a, Tensor b) { return apply(broadcast_args_op, {std::move(a), std::move(b)}); }

OpList broadcast_args_ops() {
  static constexpr const OpDef* list[] = {&broadcast_args_op, &broadcast_gradient_args_op};
  return list;
}

}  // namespace capstan
