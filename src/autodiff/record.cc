#include "capstan/autodiff/record.h"

#include <algorithm>

#include "autodiff/tape.h"

namespace capstan {

void record_operation(const std::string& name, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                      const BackwardFunction& backward) {
  if (thread_state().paused) return;
  const std::vector<Tape*> tapes = Tape::alive();
  for (Tape* tape : tapes)
    if (tape->is_recording()) tape->record_function(name, outputs, inputs, backward);
}

StopRecording::StopRecording() { ++thread_state().paused; }
StopRecording::~StopRecording() { --thread_state().paused; }

bool should_record(std::span<const Tensor> inputs) {
  if (thread_state().paused) return false;
  return std::ranges::any_of(Tape::alive(), [&](const Tape* tape) {
    return tape->is_recording() && std::ranges::any_of(inputs, [&](const Tensor& tensor) {
             return is_trainable(tensor.dtype()) && tape->find(tensor).exists();
           });
  });
}

}  // namespace capstan
