// Does what a user's function returned fit the tensor it belongs to?
#pragma once

#include <string>

#include "autodiff/value_spec.h"
#include "capstan/op/gradient.h"

namespace capstan {

/// Of the value's type and shape, as rows of it if it is slices.
bool fits(const Gradient& gradient, const TensorSpec& value);
/// Throws what is wrong with a gradient that does not fit: TypeError or InvalidArgument. `what` names it.
[[noreturn]] void throw_misfit(const std::string& what, const Gradient& gradient, const TensorSpec& value);

/// Throws unless each gradient that is there, of a value that can have one, fits. `name` is the function's.
void check_fit(const std::string& name, std::span<const Gradient> gradients, std::span<const TensorSpec> values,
               const char* what);

}  // namespace capstan
