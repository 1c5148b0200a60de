// The kernel tables, joined. A new family adds its line here.
#include <vector>

#include "cpu/tables.h"

namespace capstan {

std::span<const KernelRow> builtin_kernels() {
  static const std::vector<KernelRow> all = [] {
    std::vector<KernelRow> joined;
    for (cpu::KernelTable table : {cpu::math_unary_kernels(), cpu::math_binary_kernels(), cpu::array_kernels(),
                                   cpu::reduce_kernels(), cpu::state_kernels(), cpu::training_kernels(), cpu::random_kernels()})
      joined.insert(joined.end(), table.begin(), table.end());
    return joined;
  }();
  return all;
}

}  // namespace capstan
