// The families of operations, joined. A new family adds its line here.
#include <vector>

#include "op/runtime.h"
#include "ops/records.h"

namespace capstan {

std::span<const OpDef* const> builtin_ops() {
  static const std::vector<const OpDef*> all = [] {
    std::vector<const OpDef*> joined;
    for (OpList family : {math_unary_ops(), math_binary_ops(), array_ops(), reduce_ops(),
                          math_exponential_ops(), math_trigonometric_ops(), math_complex_ops(), math_division_ops(),
                          math_power_ops(), compare_ops(), select_ops(), cast_ops(), activation_ops(), math_gamma_ops()})
      joined.insert(joined.end(), family.begin(), family.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
