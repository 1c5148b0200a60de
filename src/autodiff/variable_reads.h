// Which trainable variables a piece of code reads.
#pragma once

#include <span>
#include <vector>

#include "op/observer.h"

namespace capstan {

/// Notes the variables that its thread reads while it lives, each once, in the order of their first read. A read counts
/// if recording is as much or as little paused as it was when this began.
class VariableReads final : public Observer {
 public:
  VariableReads();
  ~VariableReads() override;
  VariableReads(const VariableReads&) = delete;
  VariableReads& operator=(const VariableReads&) = delete;

  /// Handles of the variables read, without those that are among the inputs.
  std::vector<Tensor> besides(std::span<const Tensor> inputs) const;

  /// For reads of variables: tells all that live on this thread, also while recording is paused.
  static void note(const Tensor& handle);

  void on_call(const OpCall&) override {}

 private:
  VariableReads* const outer_;
  const int paused_;
  std::vector<Tensor> handles_;
};

}  // namespace capstan
