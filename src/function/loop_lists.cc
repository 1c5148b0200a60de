#include "function/loop_lists.h"

#include "capstan/op/op.h"
#include "capstan/ops/array.h"

namespace capstan {
namespace {

/// The shape as an op's argument: -1 for sizes that are not known, a scalar -1 for an unknown rank.
Tensor element_shape(const Shape& shape) {
  if (!shape.has_rank()) return constant(-1);
  return constant(std::vector<std::int32_t>(shape.dims().begin(), shape.dims().end()));
}

}  // namespace

Tensor empty_list(const TensorSpec& element) {
  return find_op("EmptyTensorList")
      .call({element_shape(element.shape), constant(-1)}, {{"element_dtype", element.dtype}});
}

Tensor push_back(const Tensor& list, const Tensor& value) { return find_op("TensorListPushBack")(list, value); }

std::pair<Tensor, Tensor> pop_back(const Tensor& list, const TensorSpec& element) {
  const Tensor inputs[] = {list, element_shape(element.shape)};
  auto made = find_op("TensorListPopBack").call_all(inputs, {{"element_dtype", element.dtype}});
  return {std::move(made[0]), std::move(made[1])};
}

Tensor item_of(const Tensor& list, const Tensor& index, const TensorSpec& element) {
  return find_op("TensorListGetItem")
      .call({list, index, element_shape(element.shape)}, {{"element_dtype", element.dtype}});
}

}  // namespace capstan
