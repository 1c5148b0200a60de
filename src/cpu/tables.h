// The kernel tables, one per family, with the same names as in `ops`; all.cc joins them.
#pragma once

#include <span>

#include "op/runtime.h"

namespace capstan::cpu {

using KernelTable = std::span<const KernelRow>;

/// One kernel for every element type.
constexpr KernelSet any_type(Kernel kernel) {
  KernelSet kernels;
  for (Kernel& slot : kernels.by_type) slot = kernel;
  return kernels;
}

KernelTable math_unary_kernels();
KernelTable math_binary_kernels();
KernelTable array_kernels();
KernelTable reduce_kernels();
KernelTable state_kernels();
KernelTable training_kernels();
KernelTable random_kernels();
KernelTable math_exponential_kernels();
KernelTable math_trigonometric_kernels();
KernelTable math_complex_kernels();
KernelTable math_division_kernels();
KernelTable math_power_kernels();
KernelTable compare_kernels();
KernelTable select_kernels();
KernelTable cast_kernels();
KernelTable activation_kernels();
KernelTable concat_kernels();
KernelTable split_kernels();
KernelTable gather_kernels();
KernelTable scatter_kernels();
KernelTable segment_kernels();
KernelTable transpose_kernels();
KernelTable shape_kernels();
KernelTable strided_slice_kernels();
KernelTable pad_kernels();
KernelTable sequence_kernels();
KernelTable math_gamma_kernels();
KernelTable scan_kernels();
KernelTable reverse_kernels();
KernelTable stitch_kernels();
KernelTable identity_kernels();
KernelTable placeholder_kernels();
KernelTable tensor_list_kernels();
KernelTable broadcast_args_kernels();
KernelTable linalg_kernels();
KernelTable convolution_kernels();
KernelTable pooling_kernels();
KernelTable bias_kernels();
KernelTable softmax_kernels();
KernelTable batch_norm_kernels();
KernelTable top_k_kernels();

}  // namespace capstan::cpu
