// The compiled form of a graph, which runs: the nodes that outputs and targets need, in order, with kernels, slots for
// the values and the last use of each. Everything that runs a graph runs it through a plan.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace capstan {

class Plan {
 public:
  /// Throws Unimplemented naming the node if an op is not known. Constants are computed here.
  Plan(GraphBody& graph, std::span<const Endpoint> inputs, std::span<const Endpoint> outputs,
       std::span<const std::int32_t> targets, std::string name);
  ~Plan();

  /// Runs everything. `inputs` have the types of the graph's inputs and shapes that fit theirs; kernels may write over
  /// those that nobody else holds. Each output is a tensor of its own. Thread-safe.
  std::vector<Tensor> run_over(std::vector<Tensor> inputs) const;
  std::size_t step_count() const { return steps_.size(); }

 private:
  struct Step {
    const Node* node = nullptr;
    Kernel kernel = nullptr;
    const void* attributes = nullptr;
    std::uint32_t first_input = 0, input_count = 0;
    std::uint32_t first_output = 0, output_count = 0;
    std::uint32_t first_release = 0, release_count = 0;
    bool has_static_shapes = false;  // otherwise they are inferred in every run
  };
  struct Frame;

  std::vector<bool> find_needed(std::span<const std::int32_t> targets) const;
  void place_inputs();
  void add_node(std::int32_t index);
  void add_step(std::int32_t index);
  void place_outputs();
  void find_last_uses();
  std::uint32_t slot(Endpoint at) const;
  void run_step(const Step& step, Frame& frame) const;
  std::unique_ptr<Frame> take_frame() const;
  std::unique_ptr<Frame> new_frame() const;
  void give_back(std::unique_ptr<Frame> frame) const;

  const std::shared_ptr<GraphBody> graph_;
  const std::string name_;
  const std::vector<Endpoint> inputs_, outputs_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> input_slots_;   // of all steps, one behind the other
  std::vector<bool> is_last_use_;            // beside input_slots_
  std::vector<std::uint32_t> releases_;      // slots to clear after a step
  std::vector<TensorSpec> specs_;            // of outputs, by slot
  std::vector<std::uint32_t> input_places_;  // slot of each input of the graph
  std::vector<std::uint32_t> output_slots_;
  std::vector<bool> output_is_shared_;  // an input, a constant or an output before: the caller gets a tensor of its own
  std::vector<std::pair<std::uint32_t, Tensor>> constants_;
  std::vector<std::uint32_t> first_slot_;  // of each node's outputs, while the plan is made
  std::uint32_t slot_count_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace capstan
