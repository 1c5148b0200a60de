// Loops of elementwise kernels. A kernel is a set of row functions (`Rows`): what to do with n elements that lie side by
// side, or with one element repeated. The loops here cut tensors into such rows.
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

/// Rows of a function of two elements, as plain loops: vector-vector, vector-scalar, scalar-vector.
template <class Function, class In, class Out = In>
struct BinaryRows {
  using Input = In;
  using Output = Out;
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

template <class Rows>
void unary_kernel(KernelContext& context) {
  using In = typename Rows::Input;
  using Out = typename Rows::Output;
  const In* x = context.data<In>(0);
  Out* out;
  if constexpr (sizeof(In) == sizeof(Out)) out = context.make_output_over<Out>(0, 0);
  else out = context.make_output<Out>(0);
  for_blocks(context.input(0).size(), kElementsPerBlock,
             [&](std::int64_t begin, std::int64_t end) { Rows::row(x + begin, out + begin, end - begin); });
}

template <class Rows>
void broadcast_rows(const BroadcastPlan& plan, const typename Rows::Input* x, const typename Rows::Input* y,
                    typename Rows::Output* out) {
  const BroadcastPlan::Dim inner = plan.inner();
  const std::int64_t rows_per_block = std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, inner.size));
  for_blocks(plan.row_count(), rows_per_block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto at = plan.row(row);
      typename Rows::Output* to = out + row * inner.size;
      if (inner.stride_a && inner.stride_b) Rows::vv(x + at.a, y + at.b, to, inner.size);
      else if (inner.stride_a) Rows::vs(x + at.a, y[at.b], to, inner.size);
      else Rows::sv(x[at.a], y + at.b, to, inner.size);
    }
  });
}

template <class Rows>
void binary_kernel(KernelContext& context) {
  using In = typename Rows::Input;
  using Out = typename Rows::Output;
  const Shape& shape = context.output_spec(0).shape;
  const Shape& a = context.input(0).shape();
  const Shape& b = context.input(1).shape();
  const In* x = context.data<In>(0);
  const In* y = context.data<In>(1);
  const bool fits_a = a == shape, fits_b = b == shape;
  Out* out;
  if constexpr (sizeof(In) == sizeof(Out)) out = context.make_output_over<Out>(0, fits_a ? 0 : 1);
  else out = context.make_output<Out>(0);
  const std::int64_t count = context.output(0).size();
  if (fits_a && fits_b) {
    for_blocks(count, kElementsPerBlock,
               [&](std::int64_t begin, std::int64_t end) { Rows::vv(x + begin, y + begin, out + begin, end - begin); });
  } else if (count > 0) {
    broadcast_rows<Rows>(BroadcastPlan(a, b, shape), x, y, out);
  }
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
