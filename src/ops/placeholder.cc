// Values that are fed into a graph, and the node that only orders others.
#include "ops/placeholder.h"

#include "ops/records.h"

namespace capstan {
namespace {

void placeholder_shape(InferContext& context) {
  context.set_output(0, context.attributes<PlaceholderAttributes>().shape);
}

void with_default_shape(InferContext& context) {
  const Shape& shape = context.attributes<PlaceholderAttributes>().shape;
  if (!shape.is_compatible_with(context.input_shape(0)))
    context.fail("the default of shape " + context.input_shape(0).to_string() + " does not fit the shape " +
                 shape.to_string());
  context.set_output(0, shape);
}

}  // namespace

const OpDef placeholder_op{
    .signature = "Placeholder() -> (output: dtype); dtype: any",
    .summary = "A value that is fed when the graph runs.",
    .shape = placeholder_shape,
    .gradient = not_differentiable,
    .attributes = attributes<PlaceholderAttributes>,
};

const OpDef placeholder_with_default_op{
    .signature = "PlaceholderWithDefault(input: dtype) -> (output: dtype); dtype: any",
    .summary = "A value that may be fed when the graph runs; the input, if it is not.",
    .shape = with_default_shape,
    .gradient = [](const OpCall&, Tensor dy) { return dy; },
    .forward = forward::linear({0}),
    .attributes = attributes<PlaceholderAttributes>,
    .saves = Saves::nothing(),
};

const OpDef no_op_op{
    .signature = "NoOp() -> ()",
    .summary = "Nothing; other nodes wait for it or it for them.",
    .shape = shape::none,
    .gradient = not_differentiable,
};

OpList placeholder_ops() {
  static const OpDef* const ops[] = {&placeholder_op, &placeholder_with_default_op, &no_op_op};
  return ops;
}

}  // namespace capstan
