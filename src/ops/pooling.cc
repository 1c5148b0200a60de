// Pools over windows of images.
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/nn.h"
#include "ops/nn.h"
#include "ops/records.h"

namespace capstan {
namespace {

WindowAttributes window_attributes(const PoolAttributes& a) { return {a.strides, nullptr, a.padding, nullptr}; }
WindowAttributes window_attributes(const MaxPoolAttributes& a) {
  return {a.strides, nullptr, a.padding, &a.explicit_paddings};
}

template <class Attributes>
PoolSizes sizes_of(const Attributes& attributes, const Shape& input) {
  const bool channels_first = is_channels_first(attributes.data_format);
  const ImageAxes axes(channels_first);
  const auto window = [&](int axis) {
    return make_window(window_attributes(attributes), axis, input[axis],
                       attributes.ksize[static_cast<std::size_t>(axis)]);
  };
  return {input[0], input[axes.channel], window(axes.height), window(axes.width), channels_first};
}

template <class Attributes>
void check_attributes(const InferContext& context) {
  constexpr bool kIsMax = std::is_same_v<Attributes, MaxPoolAttributes>;
  const auto& attributes = context.attributes<Attributes>();
  check_data_format(context, attributes.data_format);
  check_window_list(context, attributes.ksize, "ksize");
  check_window_list(context, attributes.strides, "strides");
  check_padding(context, window_attributes(attributes), attributes.data_format, kIsMax);
  const auto channel = static_cast<std::size_t>(ImageAxes(is_channels_first(attributes.data_format)).channel);
  for (std::size_t axis : {std::size_t{0}, channel})
    if (attributes.ksize[axis] != 1 || attributes.strides[axis] != 1)
      throw Unimplemented(std::string(context.op_name()) +
                          ": pooling over the batch or over channels; ksize and strides "
                          "must be 1 there");
}

/// The output of a pool over images of partly known shape.
template <class Attributes>
Shape output_of(const InferContext& context, const Shape& input) {
  check_attributes<Attributes>(context);
  if (!input.has_rank()) return Shape::unknown_dims(4);
  if (input.rank() != 4) context.fail("images must have 4 dimensions, got shape " + input.to_string());
  const auto& attributes = context.attributes<Attributes>();
  const ImageAxes axes(is_channels_first(attributes.data_format));
  const PoolSizes sizes = sizes_of(attributes, input);
  for (const Window* window : {&sizes.height, &sizes.width}) {
    check_fits(context, *window, window == &sizes.height ? "height" : "width");
    if (window->before >= window->size || window->after >= window->size)
      context.fail("padding must be smaller than the window, got " + std::to_string(window->before) + " and " +
                   std::to_string(window->after) + " for a window of " + std::to_string(window->size));
  }
  Shape output = input;
  output.set_dim(axes.height, sizes.height.out);
  output.set_dim(axes.width, sizes.width.out);
  return output;
}

template <class Attributes>
void pool_shape(InferContext& context) {
  context.set_output(0, output_of<Attributes>(context, context.input_shape(0)));
}

/// orig_input, orig_output, grad: like the output.
void max_pool_grad_shape(InferContext& context) {
  const Shape input = context.input_shape(0);
  Shape output = context.merge(context.input_shape(1), context.input_shape(2), "'orig_output' and 'grad'");
  context.merge(output_of<MaxPoolAttributes>(context, input), output, "the pool's output and 'grad'");
  context.set_output(0, input.has_rank() ? input : Shape::unknown_dims(4));
}

/// orig_input, orig_output, grad: like the input.
void max_pool_grad_grad_shape(InferContext& context) {
  const Shape input = context.merge(context.input_shape(0), context.input_shape(2), "'orig_input' and 'grad'");
  context.set_output(0, context.merge(output_of<PoolAttributes>(context, input), context.input_shape(1),
                                      "the pool's output and 'orig_output'"));
}

void avg_pool_grad_shape(InferContext& context) {
  Shape input = context.shape_from_input(0);
  if (!input.has_rank()) input = Shape::unknown_dims(4);
  if (input.rank() != 4)
    context.fail("'orig_input_shape' must have 4 numbers, got " + context.input_shape(0).to_string());
  context.merge(output_of<PoolAttributes>(context, input), context.input_shape(1), "the pool's output and 'grad'");
  context.set_output(0, input);
}

PoolAttributes without_paddings(const OpCall& call) {
  const auto& a = call.attributes<MaxPoolAttributes>();
  if (a.padding == "EXPLICIT")
    throw Unimplemented("MaxPoolGrad: its gradient with padding \"EXPLICIT\"; pad the images before pooling");
  return {a.ksize, a.strides, a.padding, a.data_format};
}

}  // namespace

PoolSizes pool_sizes(const PoolAttributes& attributes, const Shape& input) { return sizes_of(attributes, input); }
PoolSizes pool_sizes(const MaxPoolAttributes& attributes, const Shape& input) { return sizes_of(attributes, input); }

const OpDef max_pool_op{
    .signature = "MaxPool(input: T) -> (output: T); T: real",
    .summary = "The largest element of each window of images.",
    .shape = pool_shape<MaxPoolAttributes>,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(max_pool_grad_op, {call.input(0), call.output(0), std::move(dy)}, call.raw_attributes());
        },
    .attributes = attributes<MaxPoolAttributes>,
};

const OpDef max_pool_grad_op{
    .signature = "MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); T: real",
    .summary = "Gradient of MaxPool: goes to the first largest element of each window.",
    .shape = max_pool_grad_shape,
    .gradient =
        [](const OpCall& call, Tensor dx) {
          const PoolAttributes attributes = without_paddings(call);
          return Gradients{zeros(call.input_shape(0), dx.dtype()), zeros(call.input_shape(1), dx.dtype()),
                           apply(max_pool_grad_grad_op, {call.input(0), call.input(1), dx}, &attributes)};
        },
    .attributes = attributes<MaxPoolAttributes>,
    .saves = Saves::only({0, 1}),
};

const OpDef max_pool_grad_grad_op{
    .signature = "MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); T: real",
    .summary = "The elements of grad at the first largest element of each window of the images.",
    .shape = max_pool_grad_grad_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          const auto& a = call.attributes<PoolAttributes>();
          const MaxPoolAttributes attributes{a.ksize, a.strides, a.padding, {}, a.data_format};
          return Gradients{zeros(call.input_shape(0), dy.dtype()), zeros(call.input_shape(1), dy.dtype()),
                           apply(max_pool_grad_op, {call.input(0), call.input(1), dy}, &attributes)};
        },
    .attributes = attributes<PoolAttributes>,
    .saves = Saves::only({0, 1}),
};

const OpDef avg_pool_op{
    .signature = "AvgPool(value: T) -> (output: T); T: floating",
    .summary = "The mean of each window of images; padding does not count.",
    .shape = pool_shape<PoolAttributes>,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          return apply(avg_pool_grad_op, {shape_tensor(call.input_shape(0)), std::move(dy)}, call.raw_attributes());
        },
    .forward = forward::linear({0}),
    .attributes = attributes<PoolAttributes>,
    .saves = Saves::nothing(),
};

const OpDef avg_pool_grad_op{
    .signature = "AvgPoolGrad(orig_input_shape: int32, grad: T) -> (output: T); T: floating",
    .summary = "Gradient of AvgPool.",
    .shape = avg_pool_grad_shape,
    .gradient =
        [](const OpCall& call, Tensor dx) {
          return Gradients{Gradient(), apply(avg_pool_op, {dx}, call.raw_attributes())};
        },
    .forward = forward::linear({1}),
    .attributes = attributes<PoolAttributes>,
    .saves = Saves::nothing(),
};

namespace {

std::vector<std::int64_t> in_layout(const std::vector<std::int64_t>& pair, const std::string& data_format) {
  if (pair.size() != 1 && pair.size() != 2) return pair;
  std::vector<std::int64_t> list{1, 1, 1, 1};
  const ImageAxes axes(is_channels_first(data_format));
  list[static_cast<std::size_t>(axes.height)] = pair.front();
  list[static_cast<std::size_t>(axes.width)] = pair.back();
  return list;
}

}  // namespace

Tensor max_pool(Tensor input, const PoolOptions& options) {
  const MaxPoolAttributes attributes{in_layout(options.ksize, options.data_format),
                                     in_layout(options.strides, options.data_format), options.padding,
                                     options.explicit_paddings, options.data_format};
  return apply(max_pool_op, {std::move(input)}, &attributes);
}

Tensor avg_pool(Tensor input, const PoolOptions& options) {
  if (!options.explicit_paddings.empty())
    throw InvalidArgument("avg_pool: takes padding \"SAME\" or \"VALID\" only; pad the images before pooling");
  const PoolAttributes attributes{in_layout(options.ksize, options.data_format),
                                  in_layout(options.strides, options.data_format), options.padding,
                                  options.data_format};
  return apply(avg_pool_op, {std::move(input)}, &attributes);
}

}  // namespace capstan
