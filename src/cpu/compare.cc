// Kernels of comparisons and logic.
#include "ops/compare.h"

#include <string>

#include "cpu/element.h"
#include "cpu/tables.h"

namespace capstan::cpu {
namespace {

struct Equal {
  template <class T>
  bool operator()(const T& x, const T& y) const {
    return x == y;
  }
};
struct NotEqual {
  template <class T>
  bool operator()(const T& x, const T& y) const {
    return x != y;
  }
};
struct Less {
  template <class T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};
struct LessEqual {
  template <class T>
  bool operator()(T x, T y) const {
    return x <= y;
  }
};
struct Greater {
  template <class T>
  bool operator()(T x, T y) const {
    return x > y;
  }
};
struct GreaterEqual {
  template <class T>
  bool operator()(T x, T y) const {
    return x >= y;
  }
};
// Bitwise, so that loops have no branches.
struct And {
  bool operator()(bool x, bool y) const { return x & y; }
};
struct Or {
  bool operator()(bool x, bool y) const { return x | y; }
};
struct Not {
  bool operator()(bool x) const { return !x; }
};

/// Rows of strings by reference: `BinaryRows` would copy each.
template <class Function>
struct StringRows {
  using Input = std::string;
  using Output = bool;
  static bool one(const std::string& x, const std::string& y) { return Function{}(x, y); }
  static void vv(const std::string* x, const std::string* y, bool* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x[i], y[i]);
  }
  static void vs(const std::string* x, const std::string& y, bool* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x[i], y);
  }
  static void sv(const std::string& x, const std::string* y, bool* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x, y[i]);
  }
};

/// Shapes that do not broadcast get here only where the attribute allows them: they are unequal as a whole.
template <class Rows, bool kWhenShapesDiffer>
void equality_kernel(KernelContext& context) {
  if (!can_broadcast(context.input(0).shape(), context.input(1).shape()))
    *static_cast<bool*>(context.make_output(0, Shape{})) = kWhenShapesDiffer;
  else
    binary_kernel<Rows>(context);
}

template <class Function, bool kWhenShapesDiffer, class... Types>
KernelSet equality_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), equality_kernel<PairRows<Function, Types, bool>, kWhenShapesDiffer>), ...);
  kernels.set(DType::string, equality_kernel<StringRows<Function>, kWhenShapesDiffer>);
  return kernels;
}

KernelSet bool_kernel(Kernel kernel) {
  KernelSet kernels;
  return kernels.set(DType::invalid, kernel);  // the signature has no type variable
}

}  // namespace

KernelTable compare_kernels() {
  using Comparable = join_t<NumberTypes, TypeList<bool>>;
  static const KernelRow rows[] = {
      {&equal_op, equality_kernels<Equal, false>(Comparable{})},
      {&not_equal_op, equality_kernels<NotEqual, true>(Comparable{})},
      {&less_op, relation_kernels<Less>(RealTypes{})},
      {&less_equal_op, relation_kernels<LessEqual>(RealTypes{})},
      {&greater_op, relation_kernels<Greater>(RealTypes{})},
      {&greater_equal_op, relation_kernels<GreaterEqual>(RealTypes{})},
      {&logical_and_op, bool_kernel(binary_kernel<BinaryRows<And, bool>>)},
      {&logical_or_op, bool_kernel(binary_kernel<BinaryRows<Or, bool>>)},
      {&logical_not_op, bool_kernel(unary_kernel<UnaryRows<Not, bool>>)},
  };
  return rows;
}

}  // namespace capstan::cpu
