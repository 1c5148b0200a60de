// Lists of tensors for intermediate values of loops.
#pragma once

#include <utility>

#include "capstan/op/infer.h"

namespace capstan {

/// An empty list of tensors of that type and shape, as far as it is known.
Tensor empty_list(const TensorSpec& element);
Tensor push_back(const Tensor& list, const Tensor& value);
/// The list without its last tensor, and that one.
std::pair<Tensor, Tensor> pop_back(const Tensor& list, const TensorSpec& element);
Tensor item_of(const Tensor& list, const Tensor& index, const TensorSpec& element);

}  // namespace capstan
