// A function that was traced, or made from one: a graph, what it takes from outside, and the operations with gradient
// functions of their own that its body recorded.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capstan/autodiff/record.h"
#include "graph/graph_function.h"

namespace capstan {

class Derivatives;

/// An operation recorded while tracing, with the tensors of the graph in place of those it was told of.
struct NotedOperation {
  std::int32_t position = 0;  // nodes that stand before it
  std::string name;
  std::vector<Tensor> outputs, inputs;
  BackwardFunction backward;
  ForwardFunction forward;
  bool is_seen_forward = true;
  bool takes_absent_gradients = false;

  RecordedOperation as_recorded() const {
    return {name, outputs, inputs, backward, forward, is_seen_forward, takes_absent_gradients};
  }
};

class TracedFunction final : public GraphFunction, public std::enable_shared_from_this<TracedFunction> {
 public:
  struct Origin {
    /// What the last inputs stand for: tensors of the world outside, one for each.
    std::vector<Tensor> captures;
    /// Tensors from outside that became constants, because no tape followed them.
    std::vector<Tensor> embedded;
    std::vector<NotedOperation> noted;
  };
  TracedFunction(Parts parts, Origin origin);
  ~TracedFunction() override;

  const std::vector<Tensor>& captures() const { return origin_.captures; }
  const std::vector<Tensor>& embedded() const { return origin_.embedded; }
  const std::vector<NotedOperation>& noted() const { return origin_.noted; }
  std::size_t argument_count() const { return inputs().size() - captures().size(); }

  /// The forward form and what belongs to it, made when first asked for. The first form serves one tape that is asked
  /// once; the full one derivatives of any order and tangents.
  const std::shared_ptr<const Derivatives>& derivatives(bool full) const;

 private:
  const Origin origin_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Derivatives> first_, full_;
};

using TracedFunctionPtr = std::shared_ptr<const TracedFunction>;

}  // namespace capstan
