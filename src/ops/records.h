// What families of ops share when they write their records and gradients.
#pragma once

#include <span>

#include "capstan/op/op.h"
#include "capstan/ops/operand.h"

namespace capstan {

/// The record of an elementwise op of one argument. `shape::unchanged` and `batching::elementwise` hold for all of
/// them.
constexpr OpDef unary_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves);
/// The record of an elementwise op of two arguments of one shape, such as the gradients that are ops of their own.
constexpr OpDef paired_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves);
/// The record of an elementwise op of two arguments with NumPy's broadcasting.
constexpr OpDef binary_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves,
                              bool is_commutative = false);

/// `dy` summed over the axes along which input `i` was broadcast, in that input's shape. For gradients of broadcasting
/// ops.
Tensor unbroadcast(const OpCall& call, std::size_t i, Tensor dy);

/// Runs an op of two operands after numbers took the type of the tensor beside them.
Tensor apply_binary(const OpDef& op, Operand& x, Operand& y);

namespace batching {

/// For ops that work element by element: inputs of lower rank get their missing dimensions behind the batch's.
std::vector<Tensor> elementwise(const OpCall& call, std::span<const bool> is_batched);

/// For elementwise ops that do not broadcast: inputs without the batch are repeated for each member.
std::vector<Tensor> same_shape(const OpCall& call, std::span<const bool> is_batched);

}  // namespace batching

namespace shape {

/// All inputs have one shape, which is the outputs'.
void all_same(InferContext& context);

}  // namespace shape

constexpr OpDef unary_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves) {
  return {.signature = signature,
          .summary = summary,
          .shape = shape::unchanged,
          .gradient = gradient,
          .batching = batching::elementwise,
          .saves = saves,
          .facts = {.elementwise = true}};
}
constexpr OpDef paired_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves) {
  return {.signature = signature,
          .summary = summary,
          .shape = shape::all_same,
          .gradient = gradient,
          .batching = batching::same_shape,
          .saves = saves,
          .facts = {.elementwise = true}};
}
constexpr OpDef binary_record(std::string_view signature, std::string_view summary, GradientFn gradient, Saves saves,
                              bool is_commutative) {
  return {.signature = signature,
          .summary = summary,
          .shape = shape::broadcast,
          .gradient = gradient,
          .batching = batching::elementwise,
          .saves = saves,
          .facts = {.elementwise = true, .commutative = is_commutative}};
}

using OpList = std::span<const OpDef* const>;
/// The families, joined in all.cc.
OpList math_unary_ops();
OpList math_binary_ops();
OpList array_ops();
OpList reduce_ops();
OpList math_exponential_ops();
OpList math_trigonometric_ops();
OpList math_complex_ops();
OpList math_division_ops();
OpList math_power_ops();
OpList compare_ops();
OpList select_ops();
OpList cast_ops();
OpList activation_ops();
OpList math_gamma_ops();

}  // namespace capstan
