// Gradients by the name of an operation. An op's own record comes first; an op whose record says nothing gets its
// gradient here, also after it has run.
//
//   register_gradient("Cube", [](const OpCall& call, std::span<const Gradient> dy) {
//     return std::vector<Gradient>{dy[0].tensor() * 3 * square(call.input(0))};
//   });
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capstan/op/gradient.h"
#include "capstan/op/op_call.h"

namespace capstan {

/// From a call and the gradients of its outputs to those of its inputs, one for each, in its shape and type, or
/// `gradient` throws InvalidArgument or TypeError; with public ops only, so that it can be differentiated again. An
/// output's gradient is nothing if its type carries none.
using OpGradientFunction =
    std::function<std::vector<Gradient>(const OpCall& call, std::span<const Gradient> output_gradients)>;

struct RegisteredGradient {
  std::string op_type;
  OpGradientFunction function;  // empty for "none"

  /// Marked as not differentiable: no gradient flows through, which is no error.
  bool is_none() const { return !function; }
};

/// There is one table for both and for the records of all ops: they throw AlreadyExists for a name that stands in it,
/// InvalidArgument for an empty name or function. An op of the name need not exist yet. From any thread.
void register_gradient(std::string_view op_type, OpGradientFunction function);
void register_not_differentiable(std::string_view op_type);

/// What is registered, or stands in the op's record. Throws NotFound, with the name.
RegisteredGradient lookup_gradient(std::string_view op_type);
/// All that `lookup_gradient` finds, by name.
std::vector<RegisteredGradient> registered_gradients();

}  // namespace capstan
