// Which of the forms that a source with Highway was compiled in runs on this processor. Only Highway's headers are
// used; its own dispatcher stands in a shared library, which nobody should have to install.
//
//   const Table& table() {
//     static const Table& chosen = *CAPSTAN_CHOOSE(make_table)();
//     return chosen;
//   }
#pragma once

#include <hwy/base.h>

namespace capstan::cpu {

/// `base` is what every machine has that the library was built for.
enum class InstructionSet { base, avx2, avx512 };

/// The best that the processor and the operating system support; found once.
inline InstructionSet best_instruction_set() {
#if HWY_ARCH_X86
  static const InstructionSet best = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
      return InstructionSet::base;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512cd");
    return has_avx512 ? InstructionSet::avx512 : InstructionSet::avx2;
  }();
  return best;
#else
  return InstructionSet::base;
#endif
}

/// The form of a function for `set`, or for the next lower one that it was compiled for (others are null).
template <class Function>
Function* choose(InstructionSet set, Function* base, Function* avx2, Function* avx512) {
  if (set == InstructionSet::avx512 && avx512) return avx512;
  return set != InstructionSet::base && avx2 ? avx2 : base;
}

}  // namespace capstan::cpu

// A name in one namespace per instruction set: only a macro can paste that together.
#define CAPSTAN_CHOOSE_FOR(set, function)                          \
  ::capstan::cpu::choose<decltype(HWY_STATIC_DISPATCH(function))>( \
      (set), &HWY_STATIC_DISPATCH(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function))
#define CAPSTAN_CHOOSE(function) CAPSTAN_CHOOSE_FOR(::capstan::cpu::best_instruction_set(), function)
