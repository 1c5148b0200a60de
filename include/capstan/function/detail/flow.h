// Branches and loops without the types of their states.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "capstan/op/infer.h"

namespace capstan::detail {

/// Is there nothing to trace: no function is being traced, or the value is known already?
bool is_decided_now(const Tensor& condition);

/// One branch: runs the user's code and gives its tensors.
using BranchBody = std::function<std::vector<Tensor>()>;
/// Adds a node that calls one of the branches. `structures` tells the structure of each branch's result, for messages.
std::vector<Tensor> trace_branches(const std::string& name, const Tensor& choice, std::span<const BranchBody> branches,
                                   const std::function<void()>& check_structures);
[[noreturn]] void throw_branch_structures(const std::string& name, const std::string& first, const std::string& other);

/// The number of a branch within [0, count): the last one if there is none of that number.
std::size_t branch_number(const Tensor& index, std::size_t count);

struct LoopOptions {
  std::string name = "while_loop";
  std::int64_t maximum_iterations = -1;  // -1: no limit
  std::vector<Shape> shape_invariants = {};
  std::int64_t parallel_iterations = 10;
  bool back_prop = true;
};
using LoopStep = std::function<std::vector<Tensor>(std::span<const Tensor> values)>;
using LoopCondition = std::function<Tensor(std::span<const Tensor> values)>;

/// Runs the loop, or adds a node for it while a function is traced.
std::vector<Tensor> run_loop(const LoopOptions& options, std::vector<Tensor> start, const LoopCondition& condition,
                             const LoopStep& body);

}  // namespace capstan::detail
