// Why there is no gradient.
#pragma once

#include <string>
#include <vector>

#include "autodiff/tape.h"

namespace capstan {

/// Follows everything the tape noted behind some targets, cuts included, and says for each source where the path broke.
class Explanation {
 public:
  Explanation(Tape& tape, std::span<const Tensor> targets);
  /// "connected", or a sentence that names the place.
  std::string of(const Tensor& source) const;

 private:
  void visit(std::uint32_t index, const std::string& cut);
  void find_assignments();
  void follow();
  void follow_assignments(std::uint32_t index, const std::string& cut);

  Tape& tape_;
  bool any_target_on_tape_ = false;
  std::unordered_map<std::uint32_t, std::string> cut_before_;  // by entry: the cut on the way, empty if none
  std::unordered_map<std::uint32_t, std::vector<const Assignment*>> assignments_;  // by the variable's entry
  std::vector<std::uint32_t> stack_;
};

}  // namespace capstan
