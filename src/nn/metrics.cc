#include "capstan/nn/metrics.h"

#include "capstan/ops/cast.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/reduce.h"

namespace capstan::nn {

std::int64_t count_correct(const Tensor& labels, const Tensor& logits) {
  const Tensor hits = equal(argmax(logits, -1), cast(labels, DType::int64));
  return reduce_sum(cast(hits, DType::int64)).item<std::int64_t>();
}

}  // namespace capstan::nn
