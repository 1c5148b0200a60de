// The families of operations, joined. A new family adds its line here.
#include <vector>

#include "op/runtime.h"
#include "ops/records.h"

namespace capstan {

std::span<const OpDef* const> builtin_ops() {
  static const std::vector<const OpDef*> all = [] {
    std::vector<const OpDef*> joined;
    for (OpList family : {math_unary_ops(), math_binary_ops(), array_ops(), reduce_ops(), concat_ops(), split_ops(), gather_ops(), scatter_ops(), segment_ops(), transpose_ops(), shape_ops(), strided_slice_ops(), pad_ops(), sequence_ops(), scan_ops(), reverse_ops(), stitch_ops(), identity_ops(), broadcast_args_ops()})
      joined.insert(joined.end(), family.begin(), family.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
