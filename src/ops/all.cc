// The families of operations, joined. A new family adds its line here.
#include <vector>

#include "op/runtime.h"
#include "ops/records.h"

namespace capstan {

std::span<const OpDef* const> builtin_ops() {
  static const std::vector<const OpDef*> all = [] {
    const OpList families[] = {
        math_unary_ops(),
        math_binary_ops(),
        array_ops(),
        reduce_ops(),
        state_ops(),
        training_ops(),
        random_ops(),
        math_exponential_ops(),
        math_trigonometric_ops(),
        math_complex_ops(),
        math_division_ops(),
        math_power_ops(),
        compare_ops(),
        select_ops(),
        cast_ops(),
        activation_ops(),
        concat_ops(),
        split_ops(),
        gather_ops(),
        scatter_ops(),
        segment_ops(),
        transpose_ops(),
        shape_ops(),
        strided_slice_ops(),
        pad_ops(),
        sequence_ops(),
        math_gamma_ops(),
        scan_ops(),
        reverse_ops(),
        stitch_ops(),
        identity_ops(),
        broadcast_args_ops(),
        linalg_ops(),
        nn_ops(),
        placeholder_ops(),
        tensor_list_ops(),
    };
    std::vector<const OpDef*> joined;
    for (OpList family : families) joined.insert(joined.end(), family.begin(), family.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
