#include "capstan/nn/metrics.h"

#include "capstan/base/error.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/reduce.h"

namespace capstan::nn {

std::int64_t count_correct(const Tensor& labels, const Tensor& logits) {
  Shape examples = logits.shape();
  if (examples.rank() < 1)
    throw InvalidArgument("count_correct: the logits need an axis of classes, got shape " + examples.to_string());
  examples = Shape(examples.dims().first(static_cast<std::size_t>(examples.rank() - 1)));
  if (!is_integer(labels.dtype()))
    throw TypeError("count_correct: labels must be integers, got " + std::string(dtype_name(labels.dtype())));
  if (labels.shape() != examples)
    throw InvalidArgument("count_correct: labels must have shape " + examples.to_string() + " for logits of shape " +
                          logits.shape().to_string() + ", got " + labels.shape().to_string());
  const Tensor hits = equal(argmax(logits, -1), cast(labels, DType::int64));
  return reduce_sum(cast(hits, DType::int64)).item<std::int64_t>();
}

}  // namespace capstan::nn
