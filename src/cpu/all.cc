// The kernel tables, joined. A new family adds its line here.
#include <vector>

#include "cpu/tables.h"

namespace capstan {

std::span<const KernelRow> builtin_kernels() {
  static const std::vector<KernelRow> all = [] {
    const cpu::KernelTable tables[] = {
        cpu::math_unary_kernels(),
        cpu::math_binary_kernels(),
        cpu::array_kernels(),
        cpu::reduce_kernels(),
        cpu::state_kernels(),
        cpu::training_kernels(),
        cpu::random_kernels(),
        cpu::math_exponential_kernels(),
        cpu::math_trigonometric_kernels(),
        cpu::math_complex_kernels(),
        cpu::math_division_kernels(),
        cpu::math_power_kernels(),
        cpu::compare_kernels(),
        cpu::select_kernels(),
        cpu::cast_kernels(),
        cpu::activation_kernels(),
        cpu::concat_kernels(),
        cpu::split_kernels(),
        cpu::gather_kernels(),
        cpu::scatter_kernels(),
        cpu::segment_kernels(),
        cpu::transpose_kernels(),
        cpu::shape_kernels(),
        cpu::strided_slice_kernels(),
        cpu::pad_kernels(),
        cpu::sequence_kernels(),
        cpu::math_gamma_kernels(),
        cpu::scan_kernels(),
        cpu::reverse_kernels(),
        cpu::stitch_kernels(),
        cpu::identity_kernels(),
        cpu::placeholder_kernels(),
        cpu::tensor_list_kernels(),
        cpu::broadcast_args_kernels(),
        cpu::linalg_kernels(),
        cpu::convolution_kernels(),
        cpu::pooling_kernels(),
        cpu::bias_kernels(),
        cpu::softmax_kernels(),
        cpu::batch_norm_kernels(),
        cpu::top_k_kernels(),
    };
    std::vector<KernelRow> joined;
    for (cpu::KernelTable table : tables) joined.insert(joined.end(), table.begin(), table.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
