// Tracing: while a `Trace` is active on a thread, operations become nodes of its graph, and tensors from outside become
// captures.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "autodiff/isolation.h"
#include "function/traced_function.h"
#include "graph/recorder.h"

namespace capstan {

/// Drops symbolic tensors from a function's captures: where the graph that made them holds the function, each would
/// keep the other alive. A node's inputs say what they were.
void forget_symbolic(std::vector<Tensor>& captures);

/// A variable that was made while tracing, from a value that the trace computes.
struct CreatedVariable {
  Tensor handle;
  std::optional<Endpoint> initial_value;  // nothing: it had a value at once
};

class Trace final : public GraphRecorder {
 public:
  explicit Trace(std::string name);

  /// The trace that is active on this thread, null if there is none.
  static Trace* current();

  /// An argument: a symbolic tensor of a new placeholder.
  Tensor add_argument(const std::string& name, const TensorSpec& spec, const ResourceHandle& resource = {});
  /// Tensors of these graphs, which are finished, may be captured: the graph of a function whose gradient is traced.
  void take_from(std::shared_ptr<const GraphBody> graph) { sources_.push_back(std::move(graph)); }
  /// Tensors from outside that another function captured already: they are captured as its inputs.
  void alias(const Tensor& outer, const Tensor& as);

  const std::vector<Tensor>& captures() const { return captures_; }
  std::vector<CreatedVariable>& created_variables() { return created_; }
  /// A function called here holds these as constants.
  void note_embedded(std::span<const Tensor> constants) {
    embedded_.insert(embedded_.end(), constants.begin(), constants.end());
  }
  Recorder* outer() const override { return outer_; }
  bool has_made(const Tensor& tensor) const override;
  void on_recorded_operation(const RecordedOperation& operation) override;

  /// The function whose results are `outputs`, tensors of this trace or from outside.
  TracedFunctionPtr finish(std::span<const Tensor> outputs);
  /// The same with these captures, which include its own, in this order. The trace around takes note of tensors that
  /// became constants here.
  TracedFunctionPtr finish_with(std::span<const Tensor> outputs, std::span<const Tensor> captures, Trace& around);

  /// Operations of this thread go into the trace while this lives.
  class Active {
   public:
    explicit Active(Trace& trace);
    ~Active() = default;

   private:
    Isolation isolation_;
  };

 protected:
  Endpoint capture(const Tensor& tensor, std::string_view op) override;

 private:
  bool may_capture(const Tensor& tensor) const;
  Endpoint capture_resource(const Tensor& handle, std::string_view op);
  Endpoint capture_symbolic(const Tensor& tensor, std::string_view op);
  Endpoint capture_input(const Tensor& tensor);
  Endpoint place_in(const Tensor& capture, Trace& around);

  Recorder* const outer_;
  std::vector<std::shared_ptr<const GraphBody>> sources_;
  std::vector<Endpoint> arguments_;
  std::vector<Tensor> captures_;
  std::vector<Endpoint> capture_places_;
  std::vector<Tensor> embedded_;
  std::unordered_map<std::uint64_t, Endpoint> by_identity_;
  std::map<const Resource*, Endpoint> by_resource_;
  std::map<std::pair<const void*, Endpoint>, Endpoint> by_endpoint_;
  std::unordered_map<std::uint64_t, Tensor> aliases_;
  std::map<const Resource*, Tensor> resource_aliases_;
  std::vector<NotedOperation> noted_;
  std::vector<CreatedVariable> created_;
};

/// Leaves all tracing of this thread while it lives: operations run at once.
class InitScope {
 public:
  InitScope() = default;

 private:
  Isolation isolation_;
};

}  // namespace capstan
