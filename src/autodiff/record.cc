#include "capstan/autodiff/record.h"

#include <algorithm>

#include "autodiff/accumulator.h"
#include "autodiff/tape.h"
#include "capstan/base/error.h"

namespace capstan {
namespace {

void check_defined(const RecordedOperation& operation) {
  const auto is_missing = [](const Tensor& tensor) { return !tensor.is_defined(); };
  if (std::ranges::any_of(operation.inputs, is_missing) || std::ranges::any_of(operation.outputs, is_missing))
    throw TypeError("record_operation: an input or output of '" + operation.name + "' holds no tensor");
}

}  // namespace

void record_operation(const RecordedOperation& operation) {
  check_defined(operation);
  if (thread_state().paused) return;
  if (Recorder* recorder = thread_state().recorder) recorder->on_recorded_operation(operation);
  for (const Tensor& output : operation.outputs) Tape::hold_where_recorded(output);
  if (operation.backward)
    for (Tape* tape : std::vector<Tape*>(Tape::alive()))
      if (ObserverList::contains(*tape)) tape->record_function(operation);
  if (operation.is_seen_forward)
    for (Accumulator* accumulator : std::vector<Accumulator*>(Accumulator::alive()))
      if (ObserverList::contains(*accumulator)) accumulator->on_function(operation);
}

void record_operation(const std::string& name, std::span<const Tensor> outputs, std::span<const Tensor> inputs,
                      const BackwardFunction& backward) {
  record_operation({.name = name, .outputs = outputs, .inputs = inputs, .backward = backward});
}

StopRecording::StopRecording() { ++thread_state().paused; }
StopRecording::~StopRecording() { --thread_state().paused; }

namespace {

template <class Listener>
bool follows(const Listener* listener, std::span<const Tensor> tensors) {
  return ObserverList::contains(*listener) && std::ranges::any_of(tensors, [&](const Tensor& tensor) {
           return tensor.is_defined() && is_trainable(tensor.dtype()) && listener->knows(tensor);
         });
}

}  // namespace

bool should_record(std::span<const Tensor> inputs) {
  if (thread_state().paused) return false;
  return std::ranges::any_of(Tape::alive(), [&](const Tape* tape) { return follows(tape, inputs); }) ||
         std::ranges::any_of(Accumulator::alive(), [&](const Accumulator* each) { return follows(each, inputs); });
}

int possible_gradient_order(std::span<const Tensor> tensors) {
  if (thread_state().paused) return 0;
  int order = 0;
  for (const Tape* tape : Tape::alive())
    if (follows(tape, tensors)) order += tape->is_persistent() ? 2 : 1;
  for (const Accumulator* accumulator : Accumulator::alive())
    if (follows(accumulator, tensors)) ++order;
  return std::min(order, 2);
}

}  // namespace capstan
