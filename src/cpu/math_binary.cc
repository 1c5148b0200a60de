// Kernels of the elementwise operations of two arguments.
#include "ops/math.h"

#include "cpu/elementwise.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

// Integers wrap around: the arithmetic is done unsigned, where that is defined.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && (sizeof(T) >= sizeof(int)), std::make_unsigned<T>,
                                    std::type_identity<T>>::type;

struct Add {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
  }
};
struct Subtract {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
  }
};
struct Multiply {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_same_v<T, std::int16_t> || std::is_same_v<T, std::uint16_t>)
      return static_cast<T>(static_cast<unsigned>(x) * static_cast<unsigned>(y));  // int would overflow
    else return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
  }
};
struct Divide {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x / y);
  }
};

template <class T>
using AddRows = BinaryRows<Add, T>;
template <class T>
using SubtractRows = BinaryRows<Subtract, T>;
template <class T>
using MultiplyRows = BinaryRows<Multiply, T>;
template <class T>
using DivideRows = BinaryRows<Divide, T>;

}  // namespace

KernelTable math_binary_kernels() {
  static const KernelRow rows[] = {
      {&add_v2_op, binary_kernels<AddRows>(NumberTypes{})},
      {&sub_op, binary_kernels<SubtractRows>(NumberTypes{})},
      {&mul_op, binary_kernels<MultiplyRows>(NumberTypes{})},
      {&real_div_op, binary_kernels<DivideRows>(join_t<FloatingTypes, ComplexTypes>{})},
  };
  return rows;
}

}  // namespace capstan::cpu
