// Running one node on values, without a door: no recorder, no observer.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace capstan {

std::vector<Tensor> run_node(const Node& node, std::span<const Tensor> inputs);

}  // namespace capstan
