// What the files of the family `linalg` hand to its table.
#pragma once

#include "capstan/op/kernel.h"

namespace capstan::cpu {

KernelSet einsum_kernels();

}  // namespace capstan::cpu
