#include "capstan/nn/losses.h"

#include "capstan/base/error.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/ops/select.h"

namespace capstan::nn {
namespace {

void check_shapes(const char* loss, const Tensor& targets, const Tensor& predictions) {
  if (!targets.shape().is_compatible_with(predictions.shape()))
    throw InvalidArgument(std::string(loss) + ": targets and predictions must have one shape, got " +
                          targets.shape().to_string() + " and " + predictions.shape().to_string());
}

Tensor mean_of_last(Tensor x) { return x.rank() == 0 ? x : reduce_mean(std::move(x), {.axis = -1}); }

}  // namespace

Tensor mean_squared_error(const Tensor& targets, const Tensor& predictions) {
  check_shapes("mean_squared_error", targets, predictions);
  return mean_of_last(square(predictions - targets));
}

Tensor mean_absolute_error(const Tensor& targets, const Tensor& predictions) {
  check_shapes("mean_absolute_error", targets, predictions);
  return mean_of_last(abs(predictions - targets));
}

Tensor huber(const Tensor& targets, const Tensor& predictions, double delta) {
  check_shapes("huber", targets, predictions);
  const Tensor error = predictions - targets, size = abs(error);
  return mean_of_last(where(size <= delta, 0.5 * square(error), delta * size - 0.5 * delta * delta));
}

Tensor binary_cross_entropy(const Tensor& targets, const Tensor& logits) {
  check_shapes("binary_cross_entropy", targets, logits);
  // max(x, 0) - x z + log(1 + exp(-|x|)): no large number is ever exponentiated.
  return mean_of_last(maximum(logits, 0) - logits * targets + log1p(exp(-abs(logits))));
}

}  // namespace capstan::nn
