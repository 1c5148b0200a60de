// The way from handles, which are all that the differentiation knows of variables, to variables.
#include "capstan/autodiff/custom_gradient.h"
#include "capstan/state/variable.h"

namespace capstan {

void with_variables(std::span<const Tensor> handles, const std::function<void(const std::vector<Variable>&)>& use) {
  std::vector<Variable> variables;
  for (const Tensor& handle : handles) variables.push_back(Variable::from_handle(handle));
  use(variables);
}

}  // namespace capstan
