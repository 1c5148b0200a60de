// The backward pass: from gradients of the targets to gradients of the sources, in reverse order of recording.
#pragma once

#include <vector>

#include "autodiff/tape.h"

namespace capstan {

class Sweep {
 public:
  explicit Sweep(Tape& tape) : tape_(tape), mark_(tape.next_mark()) {}

  /// Adds a target with its seed.
  void add_target(const Tensor& target, Gradient seed);
  /// The gradients of the sources, each nothing if no path leads there.
  std::vector<Gradient> run(std::span<const Tensor> sources);

 private:
  /// The sum of the gradients that arrive at one output. Slices are kept apart until the sum is asked for.
  struct Accumulator {
    Tensor dense;
    std::vector<IndexedSlices> slices;
    bool is_source = false;

    void add(Gradient gradient);
    Gradient total();
  };

  void visit(std::uint32_t index);
  void reach();
  void order();
  void mark_paths(std::span<const Edge> sources);
  bool is_wanted(const Edge& edge);
  std::uint64_t needed_inputs(const Entry& entry);
  void process(std::uint32_t index);
  void call_gradient(std::uint32_t index, std::span<Gradient> dy);
  void call_op_gradient(std::uint32_t index, std::span<Gradient> dy, std::span<Gradient> dx);
  void call_function(Entry& entry, std::span<const Gradient> dy, std::span<Gradient> dx);
  bool collect(Entry& entry, std::span<Gradient> dy);
  Accumulator* accumulator(const Edge& edge);

  Tape& tape_;
  const std::uint32_t mark_;
  std::vector<Accumulator> accumulators_;
  std::vector<std::uint32_t> reached_;
  std::vector<std::uint32_t> order_;
  std::vector<std::pair<Edge, Gradient>> seeds_;
};

}  // namespace capstan
