#include "function/zero_of.h"

#include "autodiff/value_spec.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "ops/state.h"

namespace capstan {

Tensor zero_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::resource) {
    const bool is_told = is_plain(tensor.dtype()) && tensor.shape().is_fully_known();
    return is_told ? zeros(tensor.shape(), tensor.dtype()) : zeros_like(tensor);
  }
  const TensorSpec spec = value_spec(tensor);
  if (spec.shape.is_fully_known()) return zeros(spec.shape, spec.dtype);
  const VariableShapeAttributes attributes{DType::int64};
  return fill(apply(variable_shape_op, {tensor}, &attributes), constant_as(constant(0), spec.dtype));
}

}  // namespace capstan
