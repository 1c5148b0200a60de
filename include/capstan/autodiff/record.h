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
/// Internal with both counts; in the input's shape and type, or it throws InvalidArgument or TypeError. What the
/// function throws reaches the caller of `gradient` unchanged.
using BackwardFunction = std::function<std::vector<Gradient>(std::span<const Gradient> output_gradients)>;

/// From the tangents of the inputs (undefined where there is none) to those of the outputs, one for each, undefined or
/// in the output's shape and type: `record_operation` throws as above.
using ForwardFunction = std::function<std::vector<Tensor>(std::span<const Tensor> input_tangents)>;

struct RecordedOperation {
  std::string name;
  std::span<const Tensor> outputs;
  std::span<const Tensor> inputs;
  /// For tapes; without it they do not see the operation.
  BackwardFunction backward = {};
  /// For forward accumulators; without it they transpose the backward function (which is linear).
  ForwardFunction forward = {};
  /// False: accumulators do not see the operation, whatever functions it has.
  bool is_seen_forward = true;
  /// The backward function gets `Gradient()` for outputs that have none, instead of zeros.
  bool takes_absent_gradients = false;
};

/// Notes on every recording tape that follows one of the inputs that the outputs came from them, and gives the outputs
/// tangents on every accumulator that has one for an input. The tapes keep what the functions capture; a function that
/// holds its own outputs keeps them alive until the tape ends. An output that another operation made before counts as
/// made by this one from now on; for an accumulator, the first tangent of a tensor stays.
void record_operation(const RecordedOperation& operation);
void record_operation(const std::string& name, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                      const BackwardFunction& backward);

/// Silences all tapes and accumulators of this thread for its lifetime.
class StopRecording {
 public:
  StopRecording();
  ~StopRecording();
  StopRecording(const StopRecording&) = delete;
  StopRecording& operator=(const StopRecording&) = delete;
};

/// Would an operation on these tensors be recorded by some tape or followed by some accumulator of this thread?
bool should_record(std::span<const Tensor> inputs);

/// Which derivatives of these tensors the tapes and accumulators of this thread could be asked for: 0, none; 1, first
/// ones; 2, higher ones too (a persistent tape, or more than one listener).
int possible_gradient_order(std::span<const Tensor> tensors);

}  // namespace capstan
