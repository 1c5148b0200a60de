// Dropout, composed of other operations.
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/random_ops.h"
#include "capstan/ops/select.h"

namespace capstan {

Tensor dropout(const Tensor& x, double rate, const DropoutOptions& options) {
  if (!(rate >= 0 && rate < 1)) throw InvalidArgument("dropout: rate must be in [0, 1), got " + std::to_string(rate));
  if (!is_floating(x.dtype()))
    throw TypeError("dropout: x must have a floating type, got " + std::string(dtype_name(x.dtype())));
  if (rate == 0) return x;
  const UniformOptions uniform{.dtype = x.dtype()};
  const Tensor noise =
      options.seed ? stateless_uniform(x.shape(), *options.seed, uniform) : random_uniform(x.shape(), uniform);
  return where(noise >= rate, x * (1 / (1 - rate)), zeros(Shape{}, x.dtype()));
}

}  // namespace capstan
