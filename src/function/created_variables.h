// Variables that a function makes while it is traced: they live outside of the trace and get their values before it
// runs.
#pragma once

#include <span>
#include <vector>

#include "function/trace.h"

namespace capstan {

/// For the constructor of variables: notes one that was made on this thread, if it is tracing. `initial_value` is
/// undefined if the variable has its value already, else a tensor of the trace.
void note_created_variable(const Tensor& handle, const Tensor& initial_value);
bool is_tracing();

/// Gives the variables that a trace made their initial values, which may depend on the arguments of this call.
void initialize(const TracedFunction& function, std::span<const CreatedVariable> variables,
                std::span<const Tensor> arguments);

}  // namespace capstan
