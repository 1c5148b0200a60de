// Reductions made of others.
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/ops/select.h"

namespace capstan {
namespace {

/// |x| squared, real also for complex x.
Tensor squared_length(const Tensor& x) { return is_complex(x.dtype()) ? real(x * conj(x)) : square(x); }

}  // namespace

Tensor reduce_variance(Tensor x, const ReduceOptions& options) {
  const Tensor distance = x - reduce_mean(x, {.axis = options.axis, .keepdims = true});
  return reduce_mean(squared_length(distance), options);
}

Tensor reduce_std(Tensor x, const ReduceOptions& options) { return sqrt(reduce_variance(std::move(x), options)); }

Tensor reduce_logsumexp(Tensor x, const ReduceOptions& options) {
  const ReduceOptions kept{.axis = options.axis, .keepdims = true};
  // What is taken out and put back has no gradient of its own; infinite extremes must not make inf - inf.
  const Tensor largest = reduce_max(x, kept);
  const Tensor shift = stop_gradient(where(is_finite(largest), largest, zeros_like(largest)));
  const Tensor sum = log(reduce_sum(exp(x - shift), options));
  return sum + reshape(shift, shape_of(sum));
}

Tensor norm(Tensor x, const ReduceOptions& options) { return sqrt(reduce_sum(squared_length(x), options)); }

Tensor l2_normalize(Tensor x, const Axes& axis, double epsilon) {
  const Tensor squared = reduce_sum(squared_length(x), {.axis = axis, .keepdims = true});
  const Tensor scale = rsqrt(maximum(squared, constant(epsilon, squared.dtype())));
  return is_complex(x.dtype()) ? x * cast(scale, x.dtype()) : x * scale;
}

}  // namespace capstan
