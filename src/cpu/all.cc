// The kernel tables, joined. A new family adds its line here.
#include <vector>

#include "cpu/tables.h"

namespace capstan {

std::span<const KernelRow> builtin_kernels() {
  static const std::vector<KernelRow> all = [] {
    std::vector<KernelRow> joined;
    for (cpu::KernelTable table : {cpu::math_unary_kernels(), cpu::math_binary_kernels(), cpu::array_kernels(),
                                   cpu::reduce_kernels(), cpu::math_exponential_kernels(), cpu::math_trigonometric_kernels(),
                                   cpu::math_complex_kernels(), cpu::math_division_kernels(),
                                   cpu::math_power_kernels(), cpu::compare_kernels(), cpu::select_kernels(),
                                   cpu::cast_kernels(), cpu::activation_kernels(), cpu::math_gamma_kernels()})
      joined.insert(joined.end(), table.begin(), table.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
