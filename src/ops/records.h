// What families of ops share when they write their records and gradients.
#pragma once

#include <optional>
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

/// Input `i`'s shape as a tensor, for gradients: a constant where it is known. Throws Unimplemented if it is known only
/// in part and the record does not save the input.
Tensor shape_of_input(const OpCall& call, std::size_t i, DType dtype = DType::int32);
/// A known shape as a vector of int32 or int64; int32 becomes int64 if a size needs it.
Tensor shape_tensor(const Shape& shape, DType dtype);

/// Axes as a vector, or one as a scalar: int32, or int64 where one does not fit, so that the op refuses the number that
/// was given rather than what is left of it.
Tensor axes_tensor(std::span<const std::int64_t> axes);
Tensor axis_tensor(std::int64_t axis);

/// Runs an op of two operands after numbers took the type of the tensor beside them.
Tensor apply_binary(const OpDef& op, Operand& x, Operand& y);

/// x = function(x, y), over x's memory if it has no other owner. After an error x is what it was.
template <class Function>
Tensor& update(Tensor& x, Operand& y, Function function) {
  if (&y.tensor() == &x) {
    Operand left(std::as_const(x));
    return x = function(left, y);
  }
  Operand left(std::move(x));
  try {
    return x = function(left, y);
  } catch (...) {
    x = left.tensor();
    throw;
  }
}

/// The same record with a rule for tangents.
constexpr OpDef with_forward(OpDef op, ForwardRule rule) {
  op.forward = rule;
  return op;
}

namespace batching {

/// For ops that work element by element: inputs of lower rank get their missing dimensions behind the batch's.
std::vector<Tensor> elementwise(const OpCall& call, std::span<const bool> is_batched);

/// For elementwise ops that do not broadcast: inputs without the batch are repeated for each member.
std::vector<Tensor> same_shape(const OpCall& call, std::span<const bool> is_batched);

/// The first `count` inputs (all unless given), those without the batch repeated for each member.
std::vector<Tensor> with_batch(const OpCall& call, std::span<const bool> is_batched,
                               std::size_t count = static_cast<std::size_t>(-1));
/// An axis of one member as an axis of the batch: those counted from the front move behind the batch's dimension.
constexpr std::int64_t axis_behind_batch(std::int64_t axis) { return axis < 0 ? axis : axis + 1; }
Tensor axes_behind_batch(const Tensor& axes);

}  // namespace batching

namespace shape {

/// Sets an output's shape after making sure that it can exist: at most 254 dimensions, elements that can be counted.
void set_output(InferContext& context, std::size_t i, std::span<const std::int64_t> dims);
/// The scalar axis in input `i`, counted from the front; nothing if its value or the rank (-1) is not known.
std::optional<int> axis_input(const InferContext& context, std::size_t i, int rank, std::string_view argument);

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
OpList state_ops();
OpList training_ops();
OpList random_ops();
OpList math_exponential_ops();
OpList math_trigonometric_ops();
OpList math_complex_ops();
OpList math_division_ops();
OpList math_power_ops();
OpList compare_ops();
OpList select_ops();
OpList cast_ops();
OpList activation_ops();
OpList concat_ops();
OpList split_ops();
OpList gather_ops();
OpList scatter_ops();
OpList segment_ops();
OpList transpose_ops();
OpList shape_ops();
OpList strided_slice_ops();
OpList pad_ops();
OpList sequence_ops();
OpList math_gamma_ops();
OpList scan_ops();
OpList reverse_ops();
OpList stitch_ops();
OpList identity_ops();
OpList broadcast_args_ops();
OpList linalg_ops();
OpList nn_ops();
OpList placeholder_ops();
OpList tensor_list_ops();

}  // namespace capstan
