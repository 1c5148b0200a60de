#include "finite_differences.h"

#include <cmath>
#include <cstring>

#include "tensor/storage.h"

namespace capstan::conformance {

Tensor finite_difference(const std::function<double(const std::vector<Tensor>&)>& weighted_sum,
                         std::vector<Tensor> inputs, std::size_t index) {
  const Tensor original = inputs[index];
  Tensor result = new_tensor(original.dtype(), original.shape());
  const auto shifted = [&](std::int64_t at, double by) {
    std::vector<double> values = original.to_vector<double>();
    values[static_cast<std::size_t>(at)] += by;
    inputs[index] = constant(values, original.shape());
    return weighted_sum(inputs);
  };
  for (std::int64_t i = 0; i < original.size(); ++i) {
    const double x = original.values<double>()[static_cast<std::size_t>(i)];
    const double step = 1e-5 * std::max(1.0, std::abs(x));
    // Fourth order: the error of the difference stays far below the tolerance.
    const double near = shifted(i, step) - shifted(i, -step), far = shifted(i, 2 * step) - shifted(i, -2 * step);
    mutable_values<double>(result)[i] = (8 * near - far) / (12 * step);
  }
  return result;
}

}  // namespace capstan::conformance
