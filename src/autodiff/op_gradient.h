// The gradient function of an op, wherever it stands, and the log of its calls.
#pragma once

#include <span>
#include <string_view>

#include "capstan/op/op.h"

namespace capstan {

/// Calls the gradient function of the op's record, else the registered one; `dx` comes empty. Throws NotFound if there
/// is neither, InvalidArgument if a registered one returns another number of gradients than the op has
/// inputs or one of another shape, TypeError for one of another type.
void run_op_gradient(const OpCall& call, std::span<Gradient> dy, std::span<Gradient> dx);

bool is_registered_as_none(const OpDef& op);
/// Is the op marked as not differentiable, in its record or the registry?
inline bool is_not_differentiable(const OpDef& op) {
  return !op.gradient && (op.gradient.is_not_differentiable() || is_registered_as_none(op));
}
/// Does neither say anything of it?
bool has_no_gradient(const OpDef& op);

/// Tells the thread's logs of a gradient call. `call` is null for a recorded function.
void log_gradient(std::string_view name, const OpCall* call, std::span<const Gradient> dy,
                  std::span<const Gradient> dx);
bool is_logging_gradients();

}  // namespace capstan
