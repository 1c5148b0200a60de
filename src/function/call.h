// The door through which functions are called, eagerly and while tracing.
#pragma once

#include <span>
#include <vector>

#include "function/traced_function.h"

namespace capstan {

/// Runs the function on its inputs, captures included, or adds a call node; tapes and accumulators that follow an input
/// are told of the call as one operation.
std::vector<Tensor> call_function(const TracedFunctionPtr& function, std::span<const Tensor> inputs);

}  // namespace capstan
