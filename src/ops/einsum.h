// Equations of Einstein sums: "ij,jk->ik".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capstan/tensor/shape.h"

namespace capstan {

/// The labels of each tensor. A label is a letter; `kEllipsis` stands for "...".
struct EinsumEquation {
  static constexpr char kEllipsis = '.';
  std::vector<std::string> inputs;
  std::string output;

  std::string to_string() const;
};

/// Throws InvalidArgument. Spaces are ignored.
EinsumEquation parse_einsum(std::string_view equation);

/// One label per dimension of a tensor: letters, and numbers from `kBroadcastLabel` on for the dimensions of an
/// ellipsis, counted from its right end.
using EinsumLabels = std::vector<int>;
inline constexpr int kBroadcastLabel = 256;
/// `labels` with an ellipsis of that many dimensions written out.
EinsumLabels expand_labels(std::string_view labels, int ellipsis_rank);
/// How many dimensions the ellipsis of a tensor of `rank` dimensions stands for; negative if the rank is too small, or
/// not what labels without an ellipsis say.
int ellipsis_rank(std::string_view labels, int rank);

}  // namespace capstan
