// The families of operations, joined. A new family adds its line here.
#include <vector>

#include "op/runtime.h"
#include "ops/records.h"

namespace capstan {

std::span<const OpDef* const> builtin_ops() {
  static const std::vector<const OpDef*> all = [] {
    std::vector<const OpDef*> joined;
    for (OpList family : {math_unary_ops(), math_binary_ops(), array_ops(), reduce_ops(), state_ops(), training_ops(), random_ops()})
      joined.insert(joined.end(), family.begin(), family.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
