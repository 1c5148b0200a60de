// Biases: one number per channel.
#include "capstan/ops/array.h"
#include "capstan/ops/nn.h"
#include "capstan/ops/reduce.h"
#include "ops/nn.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// The channels of the first input; throws unless it can have some.
std::int64_t channels_of(const InferContext& context) {
  const auto& attributes = context.attributes<LayoutAttributes>();
  check_data_format(context, attributes.data_format);
  const Shape& shape = context.input_shape(0);
  if (!shape.has_rank()) return Shape::kUnknown;
  if (shape.rank() < 2) context.fail("'value' must have at least 2 dimensions, got shape " + shape.to_string());
  return shape[channel_axis(attributes.data_format, shape.rank())];
}

void bias_add_shape(InferContext& context) {
  const std::int64_t channels = channels_of(context);
  context.require_rank(1, 1, "bias");
  const Shape& bias = context.input_shape(1);
  if (channels >= 0 && bias.rank() == 1 && bias[0] >= 0 && bias[0] != channels)
    context.fail("'bias' must have one number for each of the " + std::to_string(channels) + " channels of shape " +
                 context.input_shape(0).to_string() + ", got " + std::to_string(bias[0]));
  Shape output = context.input_shape(0);
  if (output.has_rank() && bias.rank() == 1 && channels < 0)
    output.set_dim(channel_axis(context.attributes<LayoutAttributes>().data_format, output.rank()), bias[0]);
  context.set_output(0, output);
}

void bias_add_grad_shape(InferContext& context) { context.set_output(0, Shape{channels_of(context)}); }

/// One number per channel, spread over the shape of the gradient's input.
Tensor spread(const OpCall& call, const Tensor& bias) {
  const Shape& to = call.input_shape(0);
  Shape shape;
  const int channel = channel_axis(call.attributes<LayoutAttributes>().data_format, to.rank());
  for (int axis = 0; axis < to.rank(); ++axis) shape.push_back(axis == channel ? to[axis] : 1);
  return broadcast_to(reshape(bias, shape), to);
}

}  // namespace

const OpDef bias_add_op{
    .signature = "BiasAdd(value: T, bias: T) -> (output: T); T: number",
    .summary = "value + bias, one number per channel.",
    .shape = bias_add_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Gradients gradients{dy, Gradient()};
          if (call.needs_gradient(1)) gradients[1] = apply(bias_add_grad_op, {dy}, call.raw_attributes());
          return gradients;
        },
    .forward = forward::linear({0, 1}),
    .attributes = attributes<LayoutAttributes>,
    .saves = Saves::nothing(),
};

const OpDef bias_add_grad_op{
    .signature = "BiasAddGrad(out_backprop: T) -> (output: T); T: number",
    .summary = "Sum over everything but the channels: the gradient of BiasAdd with respect to the bias.",
    .shape = bias_add_grad_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return spread(call, dy); },
    .forward = forward::linear({0}),
    .attributes = attributes<LayoutAttributes>,
    .saves = Saves::nothing(),
};

Tensor bias_add(Tensor value, Tensor bias, const std::string& data_format) {
  const LayoutAttributes attributes{data_format};
  return apply(bias_add_op, {std::move(value), bias}, &attributes);
}

}  // namespace capstan
