// Convolutions of NHWC images in one element type: `direct` ways that may decline, and one that never does.
#pragma once

#include "capstan/op/kernel.h"
#include "ops/convolution.h"

namespace capstan::cpu {

enum class ConvolutionKind { forward, backprop_input, backprop_filter };

/// Arrays of a convolution: which of them is written, the kind says.
template <class T>
struct ConvolutionArrays {
  T* input;   // [batch, height, width, in_channels]
  T* filter;  // [height, width, in_channels / groups, out_channels]
  T* output;  // [batch, out height, out width, out_channels]
};

/// By oneDNN; false if it is not there or has nothing fast for these sizes.
bool convolve_onednn(ConvolutionKind kind, const ConvolutionSizes& sizes, const ConvolutionArrays<float>& arrays);

/// By matrix products over unrolled windows.
template <class T>
void convolve_unrolled(ConvolutionKind kind, const ConvolutionSizes& sizes, const ConvolutionArrays<T>& arrays);

}  // namespace capstan::cpu
