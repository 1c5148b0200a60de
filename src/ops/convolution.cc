// Convolutions over images, and their gradients.
#include "ops/convolution.h"

#include "capstan/ops/array.h"
#include "capstan/ops/nn.h"
#include "ops/nn.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// Throws unless strides and dilations leave batch and channels alone and all attributes are right.
template <class Attributes>
void check_attributes(const InferContext& context) {
  const auto& attributes = context.attributes<Attributes>();
  check_data_format(context, attributes.data_format);
  const auto channel = static_cast<std::size_t>(ImageAxes(is_channels_first(attributes.data_format)).channel);
  check_window_list(context, attributes.strides, "strides");
  check_window_list(context, attributes.dilations, "dilations");
  for (const auto* list : {&attributes.strides, &attributes.dilations})
    if ((*list)[0] != 1 || (*list)[channel] != 1)
      context.fail("strides and dilations must be 1 for batch and channels");
  check_padding(context, window_attributes(attributes), attributes.data_format, /*allow_explicit=*/true);
}

Shape require_images(const InferContext& context, const Shape& shape, const char* name) {
  if (!shape.has_rank()) return Shape::unknown_dims(4);
  if (shape.rank() != 4)
    context.fail("'" + std::string(name) + "' must have 4 dimensions, got shape " + shape.to_string());
  return shape;
}

/// The output's channels; throws if the filter does not suit the input's channels.
std::int64_t output_channels(const InferContext& context, std::int64_t in, const Shape& filter, bool is_depthwise) {
  const std::int64_t depth = filter[2], out = filter[3];
  if (is_depthwise) {
    if (in >= 0 && depth >= 0 && in != depth)
      context.fail("the filter's third dimension must be the input's number of channels, got filter " +
                   filter.to_string() + " for " + std::to_string(in) + " channels");
    const std::int64_t channels = in >= 0 ? in : depth;
    return channels >= 0 && out >= 0 ? channels * out : Shape::kUnknown;
  }
  if (depth == 0) context.fail("the filter's third dimension must not be 0, got filter " + filter.to_string());
  if (in < 0 || depth < 0) return out;
  if (in % depth != 0)
    context.fail("the input's channels must be a multiple of the filter's, got " + std::to_string(in) + " for filter " +
                 filter.to_string());
  if (out >= 0 && in > 0 && out % (in / depth) != 0)
    context.fail("the output's channels must be a multiple of the " + std::to_string(in / depth) +
                 " groups, got filter " + filter.to_string());
  return out;
}

/// The output of a convolution of partly known shapes.
template <class Attributes>
Shape output_of(const InferContext& context, const Shape& input, const Shape& filter, bool is_depthwise) {
  const auto& attributes = context.attributes<Attributes>();
  const ImageAxes axes(is_channels_first(attributes.data_format));
  const auto window = [&](int axis, std::int64_t size, const char* name) {
    const Window w = make_window(window_attributes(attributes), axis, input[axis], size);
    check_fits(context, w, name);
    return w.out;
  };
  for (int i : {0, 1})
    if (filter[i] == 0) context.fail("the filter must not be empty, got shape " + filter.to_string());
  Shape output = Shape::unknown_dims(4);
  output.set_dim(0, input[0]);
  output.set_dim(axes.height, window(axes.height, filter[0], "height"));
  output.set_dim(axes.width, window(axes.width, filter[1], "width"));
  output.set_dim(axes.channel, output_channels(context, input[axes.channel], filter, is_depthwise));
  return output;
}

template <class Attributes, bool kDepthwise>
void convolution_shape(InferContext& context) {
  check_attributes<Attributes>(context);
  const Shape input = require_images(context, context.input_shape(0), "input");
  const Shape filter = require_images(context, context.input_shape(1), "filter");
  context.set_output(0, output_of<Attributes>(context, input, filter, kDepthwise));
}

/// A shape that a vector of 4 numbers names. For the input's sizes TensorFlow also takes height and width alone.
template <class Attributes>
Shape named_sizes(const InferContext& context, std::size_t i, const Shape& dy, bool allow_two) {
  const Shape& given = context.input_shape(i);
  context.require_rank(i, 1, "sizes");
  if (!context.input_value(i)) return Shape::unknown_dims(4);
  const Shape sizes = context.shape_from_input(i);
  if (sizes.rank() == 4) return sizes;
  if (!allow_two || sizes.rank() != 2) context.fail("sizes must have 4 numbers, got shape " + given.to_string());
  const ImageAxes axes(is_channels_first(context.attributes<Attributes>().data_format));
  Shape full = Shape::unknown_dims(4);
  full.set_dim(0, dy[0]);
  full.set_dim(axes.height, sizes[0]);
  full.set_dim(axes.width, sizes[1]);
  return full;
}

template <class Attributes>
void check_output(const InferContext& context, const Shape& input, const Shape& filter, const Shape& dy,
                  bool is_depthwise) {
  context.merge(output_of<Attributes>(context, input, filter, is_depthwise), dy,
                "the convolution's output and 'out_backprop'");
}

template <class Attributes, bool kDepthwise>
void backprop_input_shape(InferContext& context) {
  check_attributes<Attributes>(context);
  const Shape filter = require_images(context, context.input_shape(1), "filter");
  const Shape dy = require_images(context, context.input_shape(2), "out_backprop");
  Shape input = named_sizes<Attributes>(context, 0, dy, true);
  const int channel = ImageAxes(is_channels_first(context.attributes<Attributes>().data_format)).channel;
  // Two sizes leave the channels to the filter: one group.
  const bool is_pair = context.input_shape(0).rank() == 1 && context.input_shape(0)[0] == 2;
  if (is_pair && input[channel] < 0) input.set_dim(channel, filter[2]);
  check_output<Attributes>(context, input, filter, dy, kDepthwise);
  if (input[0] < 0) input.set_dim(0, dy[0]);
  if (kDepthwise && input[channel] < 0) input.set_dim(channel, filter[2]);
  context.set_output(0, input);
}

template <class Attributes, bool kDepthwise>
void backprop_filter_shape(InferContext& context) {
  check_attributes<Attributes>(context);
  const Shape input = require_images(context, context.input_shape(0), "input");
  const Shape dy = require_images(context, context.input_shape(2), "out_backprop");
  const Shape filter = named_sizes<Attributes>(context, 1, dy, false);
  check_output<Attributes>(context, input, filter, dy, kDepthwise);
  context.set_output(0, filter);
}

struct Family {
  const OpDef *forward, *backprop_input, *backprop_filter;
};
constexpr Family kConvolution{&conv_2d_op, &conv_2d_backprop_input_op, &conv_2d_backprop_filter_op};
constexpr Family kDepthwise{&depthwise_conv_2d_op, &depthwise_conv_2d_backprop_input_op,
                            &depthwise_conv_2d_backprop_filter_op};

Tensor forward(const Family& family, const OpCall& call, const Tensor& input, const Tensor& filter) {
  return apply(*family.forward, {input, filter}, call.raw_attributes());
}
Tensor backprop_input(const Family& family, const OpCall& call, const Shape& sizes, const Tensor& filter,
                      const Tensor& dy) {
  return apply(*family.backprop_input, {shape_tensor(sizes), filter, dy}, call.raw_attributes());
}
Tensor backprop_filter(const Family& family, const OpCall& call, const Tensor& input, const Shape& sizes,
                       const Tensor& dy) {
  return apply(*family.backprop_filter, {input, shape_tensor(sizes), dy}, call.raw_attributes());
}

Gradients forward_gradient(const Family& family, const OpCall& call, const Tensor& dy) {
  Gradients gradients(2);
  if (call.needs_gradient(0)) gradients[0] = backprop_input(family, call, call.input_shape(0), call.input(1), dy);
  if (call.needs_gradient(1)) gradients[1] = backprop_filter(family, call, call.input(0), call.input_shape(1), dy);
  return gradients;
}
Gradients backprop_input_gradient(const Family& family, const OpCall& call, const Tensor& dx) {
  Gradients gradients(3);
  if (call.needs_gradient(1)) gradients[1] = backprop_filter(family, call, dx, call.input_shape(1), call.input(2));
  if (call.needs_gradient(2)) gradients[2] = forward(family, call, dx, call.input(1));
  return gradients;
}
Gradients backprop_filter_gradient(const Family& family, const OpCall& call, const Tensor& df) {
  Gradients gradients(3);
  if (call.needs_gradient(0)) gradients[0] = backprop_input(family, call, call.input_shape(0), df, call.input(2));
  if (call.needs_gradient(2)) gradients[2] = forward(family, call, call.input(0), df);
  return gradients;
}

}  // namespace

const OpDef conv_2d_op{
    .signature = "Conv2D(input: T, filter: T) -> (output: T); T: floating|int32",
    .summary = "Convolution of images.",
    .shape = convolution_shape<ConvolutionAttributes, false>,
    .gradient = [](const OpCall& call, Tensor dy) { return forward_gradient(kConvolution, call, std::move(dy)); },
    .forward = forward::multilinear({0, 1}),
    .attributes = attributes<ConvolutionAttributes>,
    .saves = Saves::all_inputs(),
};

const OpDef conv_2d_backprop_input_op{
    .signature =
        "Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T); T: floating|int32",
    .summary = "Gradient of a convolution with respect to its input: a transposed convolution.",
    .shape = backprop_input_shape<ConvolutionAttributes, false>,
    .gradient = [](const OpCall& call, Tensor dx) { return backprop_input_gradient(kConvolution, call, dx); },
    .forward = forward::multilinear({1, 2}),
    .attributes = attributes<ConvolutionAttributes>,
    .saves = Saves::only({1, 2}),
};

const OpDef conv_2d_backprop_filter_op{
    .signature = "Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); T: floating",
    .summary = "Gradient of a convolution with respect to its filter.",
    .shape = backprop_filter_shape<ConvolutionAttributes, false>,
    .gradient = [](const OpCall& call, Tensor df) { return backprop_filter_gradient(kConvolution, call, df); },
    .forward = forward::multilinear({0, 2}),
    .attributes = attributes<ConvolutionAttributes>,
    .saves = Saves::only({0, 2}),
};

const OpDef depthwise_conv_2d_op{
    .signature = "DepthwiseConv2dNative(input: T, filter: T) -> (output: T); T: floating",
    .summary = "Convolution of each channel of images with filters of its own.",
    .shape = convolution_shape<DepthwiseAttributes, true>,
    .gradient = [](const OpCall& call, Tensor dy) { return forward_gradient(kDepthwise, call, std::move(dy)); },
    .forward = forward::multilinear({0, 1}),
    .attributes = attributes<DepthwiseAttributes>,
    .saves = Saves::all_inputs(),
};

const OpDef depthwise_conv_2d_backprop_input_op{
    .signature =
        "DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T); "
        "T: floating",
    .summary = "Gradient of a depthwise convolution with respect to its input.",
    .shape = backprop_input_shape<DepthwiseAttributes, true>,
    .gradient = [](const OpCall& call, Tensor dx) { return backprop_input_gradient(kDepthwise, call, dx); },
    .attributes = attributes<DepthwiseAttributes>,
    .saves = Saves::only({1, 2}),
};

const OpDef depthwise_conv_2d_backprop_filter_op{
    .signature =
        "DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T); "
        "T: floating",
    .summary = "Gradient of a depthwise convolution with respect to its filter.",
    .shape = backprop_filter_shape<DepthwiseAttributes, true>,
    .gradient = [](const OpCall& call, Tensor df) { return backprop_filter_gradient(kDepthwise, call, df); },
    .attributes = attributes<DepthwiseAttributes>,
    .saves = Saves::only({0, 2}),
};

namespace {

/// Two numbers, for height and width (or one for both), in the layout's order, with 1 for batch and channels.
std::vector<std::int64_t> in_layout(const std::vector<std::int64_t>& pair, const std::string& data_format) {
  if (pair.size() != 1 && pair.size() != 2) return pair;
  std::vector<std::int64_t> list{1, 1, 1, 1};
  const ImageAxes axes(is_channels_first(data_format));
  list[static_cast<std::size_t>(axes.height)] = pair.front();
  list[static_cast<std::size_t>(axes.width)] = pair.back();
  return list;
}

}  // namespace

Tensor conv2d(Tensor input, Tensor filters, const ConvolutionOptions& options) {
  const ConvolutionAttributes attributes{in_layout(options.strides, options.data_format),
                                         true,
                                         options.padding,
                                         options.explicit_paddings,
                                         options.data_format,
                                         in_layout(options.dilations, options.data_format)};
  return apply(conv_2d_op, {std::move(input), std::move(filters)}, &attributes);
}

Tensor conv2d_transpose(Tensor input, Tensor filters, const Shape& output_shape, const ConvolutionOptions& options) {
  const ConvolutionAttributes attributes{in_layout(options.strides, options.data_format),
                                         true,
                                         options.padding,
                                         options.explicit_paddings,
                                         options.data_format,
                                         in_layout(options.dilations, options.data_format)};
  return apply(conv_2d_backprop_input_op, {shape_tensor(output_shape), std::move(filters), std::move(input)},
               &attributes);
}

Tensor depthwise_conv2d(Tensor input, Tensor filter, const ConvolutionOptions& options) {
  const DepthwiseAttributes attributes{in_layout(options.strides, options.data_format), options.padding,
                                       options.explicit_paddings, options.data_format,
                                       in_layout(options.dilations, options.data_format)};
  return apply(depthwise_conv_2d_op, {std::move(input), std::move(filter)}, &attributes);
}

}  // namespace capstan
