// Calls, branches and loops in the form that derivatives need: with further outputs that hand out what the backward and
// tangent functions will ask for, and those functions beside them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "function/traced_function.h"

namespace capstan {

/// How much derivatives will ask for: what one gradient needs, or what gradients and tangents of any order need. Then
/// the further outputs count as results, since gradients arrive at them too.
enum class DerivativeNeed { none, first, full };

struct ForwardForm {
  const OpDef* op = nullptr;
  std::shared_ptr<const void> attributes;
  std::size_t result_count = 0;  // of the op as it was; further outputs stand behind them
  /// The record of one call, from its inputs and all its outputs.
  std::function<NotedOperation(std::vector<Tensor> inputs, std::vector<Tensor> outputs)> note;
};

/// Nothing if the op is no call, branch or loop.
std::optional<ForwardForm> forward_form(const OpDef& op, const void* attributes, DerivativeNeed need);
bool has_forward_form(const OpDef& op);

/// Applies a call, branch or loop; tapes and accumulators that follow an input are told of it as one operation.
std::vector<Tensor> apply_flow(const OpDef& op, const void* attributes, std::span<const Tensor> inputs);

/// What listeners of this thread may ask of what happens to these tensors.
DerivativeNeed derivative_need(std::span<const Tensor> inputs);

}  // namespace capstan
