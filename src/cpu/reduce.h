// Reductions, reduced to one picture: the input is [outer, reduced, inner] after neighbouring axes are joined, or has
// its axes moved until it is.
#pragma once

#include <vector>

#include "capstan/op/kernel.h"

namespace capstan::cpu {

/// The dimensions of a reduction, neighbours of the same kind joined, outermost first.
struct ReducePlan {
  struct Dim {
    std::int64_t size;
    bool is_reduced;
  };
  std::vector<Dim> dims;
  std::int64_t reduced_count = 1;  // elements that go into one output

  ReducePlan(const Shape& input, const Tensor& axes);
};

}  // namespace capstan::cpu
