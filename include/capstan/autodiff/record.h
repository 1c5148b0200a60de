// Recording an operation of one's own on the tapes that are listening, with a backward function in place of an op's
// gradient.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "capstan/op/gradient.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// From the gradients of the outputs to those of the inputs: one for each input, or the call of `gradient` throws
/// Internal with both counts. What the function throws reaches the caller of `gradient` unchanged.
using BackwardFunction = std::function<std::vector<Gradient>(std::span<const Gradient> output_gradients)>;

/// Notes on every recording tape that follows one of `inputs` that `outputs` came from them. The tapes keep what the
/// function captures; a function that holds its own outputs keeps them alive until the tape ends. An output that
/// another operation made before counts as made by this one from now on.
void record_operation(const std::string& name, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                      const BackwardFunction& backward);

/// Silences all tapes of this thread for its lifetime.
class StopRecording {
 public:
  StopRecording();
  ~StopRecording();
  StopRecording(const StopRecording&) = delete;
  StopRecording& operator=(const StopRecording&) = delete;
};

/// Would an operation on these tensors be recorded by some tape of this thread?
bool should_record(std::span<const Tensor> inputs);

}  // namespace capstan
