// What families of ops share when they write their records and gradients.
#pragma once

#include <span>

#include "capstan/op/op.h"
#include "capstan/ops/operand.h"

namespace capstan {

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

using OpList = std::span<const OpDef* const>;
/// The families, joined in all.cc.
OpList math_unary_ops();
OpList math_binary_ops();
OpList array_ops();
OpList reduce_ops();
OpList state_ops();
OpList training_ops();
OpList random_ops();

}  // namespace capstan
