// How well a model does.
#pragma once

#include <cstdint>

#include "capstan/nn/layer.h"

namespace capstan::nn {

/// How many of the rows of `logits` [n, classes] have their largest value at the label's place; labels [n] of an
/// integer type.
std::int64_t count_correct(const Tensor& labels, const Tensor& logits);

/// The share of examples that the model classifies right. `data` is a dataset of single (input, label) examples: it is
/// batched here. 0 for no examples.
template <class Dataset>
double accuracy(const Layer& model, const Dataset& data, std::int64_t batch_size = 256) {
  std::int64_t correct = 0, total = 0;
  for (auto [inputs, labels] : data.batch(batch_size)) {
    correct += count_correct(labels, model(inputs));
    total += labels.size();
  }
  return total ? static_cast<double>(correct) / static_cast<double>(total) : 0;
}

}  // namespace capstan::nn
