// Kernels of the convolutions: from any layout and type to NHWC in float, double or int32.
#include "cpu/convolution.h"

#include <algorithm>

#include "cpu/elementwise.h"
#include "cpu/images.h"
#include "cpu/scratch.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

void convolve(ConvolutionKind kind, const ConvolutionSizes& sizes, const ConvolutionArrays<float>& arrays) {
  if (!convolve_onednn(kind, sizes, arrays)) convolve_unrolled(kind, sizes, arrays);
}
void convolve(ConvolutionKind kind, const ConvolutionSizes& sizes, const ConvolutionArrays<double>& arrays) {
  convolve_unrolled(kind, sizes, arrays);
}
void convolve(ConvolutionKind kind, const ConvolutionSizes& sizes, const ConvolutionArrays<std::int32_t>& arrays) {
  convolve_unrolled(kind, sizes, arrays);
}

template <class T, class Attributes, bool kDepthwise, ConvolutionKind kKind>
void convolution_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<Attributes>();
  const Shape& input =
      kKind == ConvolutionKind::backprop_input ? context.output_spec(0).shape : context.input(0).shape();
  const Shape& filter =
      kKind == ConvolutionKind::backprop_filter ? context.output_spec(0).shape : context.input(1).shape();
  const ConvolutionSizes sizes = convolution_sizes(attributes, input, filter, kDepthwise);
  T* const result = context.make_output<T>(0);
  const std::int64_t result_size = context.output(0).size();
  if (result_size == 0) return;
  const auto array = [&](ConvolutionKind written, std::size_t read) {
    return kKind == written ? result : const_cast<T*>(context.data<T>(read));
  };
  Images<T> images(array(ConvolutionKind::backprop_input, 0), sizes.batch, sizes.height.in * sizes.width.in,
                   sizes.in_channels, sizes.channels_first);
  Images<T> outputs(array(ConvolutionKind::forward, 2), sizes.batch, sizes.height.out * sizes.width.out,
                    sizes.out_channels, sizes.channels_first);
  Images<T> filters(array(ConvolutionKind::backprop_filter, 1), 1, filter.num_elements(), 1, false);
  const bool is_empty = context.input(0).size() == 0 || context.input(1).size() == 0 ||
                        (kKind != ConvolutionKind::forward && context.input(2).size() == 0);
  if (is_empty) {  // a sum of nothing
    std::fill_n(result, result_size, T(0));
    return;
  }
  if (kKind != ConvolutionKind::backprop_input) images.read();
  if (kKind != ConvolutionKind::backprop_filter) filters.read();
  if (kKind != ConvolutionKind::forward) outputs.read();
  convolve(kKind, sizes, ConvolutionArrays<Accumulator<T>>{images.nhwc(), filters.nhwc(), outputs.nhwc()});
  if (kKind == ConvolutionKind::backprop_input) images.write();
  if (kKind == ConvolutionKind::backprop_filter) filters.write();
  if (kKind == ConvolutionKind::forward) outputs.write();
}

template <class Attributes, bool kDepthwise, ConvolutionKind kKind, class... Types>
constexpr KernelSet kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), convolution_kernel<Types, Attributes, kDepthwise, kKind>), ...);
  return kernels;
}

}  // namespace

KernelTable convolution_kernels() {
  using enum ConvolutionKind;
  using WithIntegers = join_t<FloatingTypes, TypeList<std::int32_t>>;
  static const KernelRow rows[] = {
      {&conv_2d_op, kernels_of<ConvolutionAttributes, false, forward>(WithIntegers{})},
      {&conv_2d_backprop_input_op, kernels_of<ConvolutionAttributes, false, backprop_input>(WithIntegers{})},
      {&conv_2d_backprop_filter_op, kernels_of<ConvolutionAttributes, false, backprop_filter>(FloatingTypes{})},
      {&depthwise_conv_2d_op, kernels_of<DepthwiseAttributes, true, forward>(FloatingTypes{})},
      {&depthwise_conv_2d_backprop_input_op, kernels_of<DepthwiseAttributes, true, backprop_input>(FloatingTypes{})},
      {&depthwise_conv_2d_backprop_filter_op, kernels_of<DepthwiseAttributes, true, backprop_filter>(FloatingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
