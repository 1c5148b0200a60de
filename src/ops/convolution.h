// Convolutions: attributes and sizes, for records and kernels.
#pragma once

#include "capstan/op/op.h"
#include "ops/window.h"

namespace capstan {

struct ConvolutionAttributes {
  std::vector<std::int64_t> strides;
  bool use_cudnn_on_gpu = true;  // without effect; files say it
  std::string padding;
  std::vector<std::int64_t> explicit_paddings;
  std::string data_format = "NHWC";
  std::vector<std::int64_t> dilations = {1, 1, 1, 1};
  template <class Field>
  static void fields(Field&& field) {
    field("strides", &ConvolutionAttributes::strides);
    field("use_cudnn_on_gpu", &ConvolutionAttributes::use_cudnn_on_gpu);
    field("padding", &ConvolutionAttributes::padding);
    field("explicit_paddings", &ConvolutionAttributes::explicit_paddings);
    field("data_format", &ConvolutionAttributes::data_format);
    field("dilations", &ConvolutionAttributes::dilations);
  }
};

/// The same without the switch for GPUs.
struct DepthwiseAttributes {
  std::vector<std::int64_t> strides;
  std::string padding;
  std::vector<std::int64_t> explicit_paddings;
  std::string data_format = "NHWC";
  std::vector<std::int64_t> dilations = {1, 1, 1, 1};
  template <class Field>
  static void fields(Field&& field) {
    field("strides", &DepthwiseAttributes::strides);
    field("padding", &DepthwiseAttributes::padding);
    field("explicit_paddings", &DepthwiseAttributes::explicit_paddings);
    field("data_format", &DepthwiseAttributes::data_format);
    field("dilations", &DepthwiseAttributes::dilations);
  }
};

/// Sizes of a convolution. The filter is [height, width, in_channels / groups, out_channels].
struct ConvolutionSizes {
  std::int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  Window height, width;
  bool channels_first = false;
};

template <class Attributes>
WindowAttributes window_attributes(const Attributes& attributes) {
  return {attributes.strides, &attributes.dilations, attributes.padding, &attributes.explicit_paddings};
}

/// Sizes of a convolution of fully known shapes that its shape function has checked.
template <class Attributes>
ConvolutionSizes convolution_sizes(const Attributes& attributes, const Shape& input, const Shape& filter,
                                   bool is_depthwise = false) {
  const bool channels_first = is_channels_first(attributes.data_format);
  const ImageAxes axes(channels_first);
  ConvolutionSizes sizes{input[0], input[axes.channel], is_depthwise ? filter[2] * filter[3] : filter[3], 1, {},
                         {},       channels_first};
  sizes.groups = is_depthwise ? filter[2] : sizes.in_channels / filter[2];
  sizes.height = make_window(window_attributes(attributes), axes.height, input[axes.height], filter[0]);
  sizes.width = make_window(window_attributes(attributes), axes.width, input[axes.width], filter[1]);
  return sizes;
}

extern const OpDef conv_2d_op, conv_2d_backprop_input_op, conv_2d_backprop_filter_op;
extern const OpDef depthwise_conv_2d_op, depthwise_conv_2d_backprop_input_op, depthwise_conv_2d_backprop_filter_op;

}  // namespace capstan
