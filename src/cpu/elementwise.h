// Loops of elementwise kernels. A kernel is a set of row functions (`Rows`): what to do with n elements that lie side
// by side, or with one element repeated. The loops here cut tensors into such rows.
#pragma once

#include <cstdint>
#include <type_traits>

#include "capstan/op/kernel.h"
#include "cpu/broadcast.h"
#include "cpu/parallel.h"

namespace capstan::cpu {

/// Rows of a function of one element, as plain loops.
template <class Function, class In, class Out = In>
struct UnaryRows {
  using Input = In;
  using Output = Out;
  static void row(const In* x, Out* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x[i]);
  }
};

/// Rows of a function of two elements, as plain loops: vector-vector, vector-scalar, scalar-vector; and one pair.
template <class Function, class In, class Out = In>
struct BinaryRows {
  using Input = In;
  using Output = Out;
  static Out one(In x, In y) { return Function{}(x, y); }
  static void vv(const In* x, const In* y, Out* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x[i], y[i]);
  }
  static void vs(const In* x, In y, Out* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x[i], y);
  }
  static void sv(In x, const In* y, Out* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Function{}(x, y[i]);
  }
};

/// Row functions with their element types erased, so that one driver serves all kernels.
struct UnaryLoops {
  void (*row)(const void* x, void* out, std::int64_t n);
  std::size_t input_size;  // bytes of an element
  std::size_t output_size;
};
struct BinaryLoops {
  void (*vv)(const void* x, const void* y, void* out, std::int64_t n);
  void (*vs)(const void* x, const void* y, void* out, std::int64_t n);
  void (*sv)(const void* x, const void* y, void* out, std::int64_t n);
  /// Rows [begin, end) of a plan with short rows; `out` is where row `begin` goes.
  void (*short_rows)(const void* x, const void* y, void* out, const BroadcastPlan& plan, std::int64_t begin,
                     std::int64_t end);
  std::size_t input_size;
  std::size_t output_size;
};

void run_unary(KernelContext& context, const UnaryLoops& loops);
void run_binary(KernelContext& context, const BinaryLoops& loops);
void run_broadcast(const BroadcastPlan& plan, const BinaryLoops& loops, const void* x, const void* y, void* out);

template <class Rows>
struct ErasedUnary {
  using In = typename Rows::Input;
  using Out = typename Rows::Output;
  static void row(const void* x, void* out, std::int64_t n) {
    Rows::row(static_cast<const In*>(x), static_cast<Out*>(out), n);
  }
};
template <class Rows>
inline constexpr UnaryLoops unary_loops{ErasedUnary<Rows>::row, sizeof(typename Rows::Input),
                                        sizeof(typename Rows::Output)};

template <class Rows>
struct ErasedBinary {
  using In = typename Rows::Input;
  using Out = typename Rows::Output;
  static void vv(const void* x, const void* y, void* out, std::int64_t n) {
    Rows::vv(static_cast<const In*>(x), static_cast<const In*>(y), static_cast<Out*>(out), n);
  }
  static void vs(const void* x, const void* y, void* out, std::int64_t n) {
    Rows::vs(static_cast<const In*>(x), *static_cast<const In*>(y), static_cast<Out*>(out), n);
  }
  static void sv(const void* x, const void* y, void* out, std::int64_t n) {
    Rows::sv(*static_cast<const In*>(x), static_cast<const In*>(y), static_cast<Out*>(out), n);
  }
  static void short_rows(const void* x, const void* y, void* out, const BroadcastPlan& plan, std::int64_t begin,
                         std::int64_t end) {
    const BroadcastPlan::Dim inner = plan.inner();
    auto* to = static_cast<Out*>(out);
    for (RowCursor at(plan, begin); begin < end; ++begin, at.next()) {
      const In* from_x = static_cast<const In*>(x) + at.a();
      const In* from_y = static_cast<const In*>(y) + at.b();
      for (std::int64_t i = 0; i < inner.size; ++i)
        *to++ = Rows::one(from_x[i * inner.stride_a], from_y[i * inner.stride_b]);
    }
  }
};
template <class Rows>
inline constexpr BinaryLoops binary_loops{ErasedBinary<Rows>::vv,       ErasedBinary<Rows>::vs,
                                          ErasedBinary<Rows>::sv,       ErasedBinary<Rows>::short_rows,
                                          sizeof(typename Rows::Input), sizeof(typename Rows::Output)};

template <class Rows>
void unary_kernel(KernelContext& context) {
  run_unary(context, unary_loops<Rows>);
}
template <class Rows>
void binary_kernel(KernelContext& context) {
  run_binary(context, binary_loops<Rows>);
}
template <class Rows>
void broadcast_rows(const BroadcastPlan& plan, const typename Rows::Input* x, const typename Rows::Input* y,
                    typename Rows::Output* out) {
  run_broadcast(plan, binary_loops<Rows>, x, y, out);
}

/// One kernel per type, from a template over the element type.
template <template <class> class RowsOf, class... Types>
constexpr KernelSet unary_kernels() {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), unary_kernel<RowsOf<Types>>), ...);
  return kernels;
}
template <template <class> class RowsOf, class... Types>
constexpr KernelSet binary_kernels() {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), binary_kernel<RowsOf<Types>>), ...);
  return kernels;
}

/// A list of element types, to instantiate kernels for.
template <class... Types>
struct TypeList {};
using FloatingTypes = TypeList<float16, bfloat16, float, double>;
using SignedTypes = TypeList<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedTypes = TypeList<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using ComplexTypes = TypeList<std::complex<float>, std::complex<double>>;

template <class... Lists>
struct Join;
template <class... A>
struct Join<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct Join<TypeList<A...>, TypeList<B...>, Rest...> : Join<TypeList<A..., B...>, Rest...> {};
template <class... Lists>
using join_t = typename Join<Lists...>::type;
using IntegerTypes = join_t<SignedTypes, UnsignedTypes>;
using RealTypes = join_t<FloatingTypes, IntegerTypes>;
using NumberTypes = join_t<RealTypes, ComplexTypes>;

template <template <class> class RowsOf, class... Types>
constexpr KernelSet unary_kernels(TypeList<Types...>) {
  return unary_kernels<RowsOf, Types...>();
}
template <template <class> class RowsOf, class... Types>
constexpr KernelSet binary_kernels(TypeList<Types...>) {
  return binary_kernels<RowsOf, Types...>();
}

}  // namespace capstan::cpu
