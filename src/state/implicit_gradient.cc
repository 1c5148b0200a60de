#include "capstan/state/implicit_gradient.h"

#include "capstan/base/error.h"

namespace capstan::detail {

VariableGradients variable_gradients(GradientTape& tape, const std::vector<Tensor>& outputs) {
  tape.stop();
  const std::vector<Variable> variables = tape.watched_variables();
  if (variables.empty())
    throw InvalidArgument("implicit_gradient: there are no trainable variables that the function reads");
  if (outputs.empty())
    throw InvalidArgument("implicit_gradient: the function returns nothing that could be differentiated");
  auto gradients = tape.gradient(outputs, variables);
  VariableGradients pairs;
  for (std::size_t i = 0; i < variables.size(); ++i) pairs.emplace_back(std::move(gradients[i]), variables[i]);
  return pairs;
}

}  // namespace capstan::detail
