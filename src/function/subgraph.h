// Parts of a traced function that are functions of their own: branches, conditions, bodies. They take what they capture
// as inputs, all of them in one order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "function/trace.h"

namespace capstan {

class Subgraph {
 public:
  /// `outer`: the trace of the function around it.
  Subgraph(std::string name, Trace& outer) : outer_(outer), trace_(std::move(name)) {}

  Trace& trace() { return trace_; }
  /// Traces the body. Variables that it makes are noted in the trace around.
  void build(const std::function<std::vector<Tensor>()>& body);
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  friend std::vector<Tensor> shared_captures(std::span<Subgraph* const> parts);
  friend TracedFunctionPtr finish(Subgraph& part, std::span<const Tensor> captures);

  Trace& outer_;
  Trace trace_;
  std::vector<Tensor> outputs_;
};

/// What any of the parts captures, each once.
std::vector<Tensor> shared_captures(std::span<Subgraph* const> parts);
/// The part as a function of its arguments and then of these captures.
TracedFunctionPtr finish(Subgraph& part, std::span<const Tensor> captures);

/// Variables among the inputs of a node are followed as if they had been read.
void watch_inputs(std::span<const Tensor> inputs);

}  // namespace capstan
