#include "autodiff/explain.h"

#include "autodiff/op_gradient.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

bool has_no_rule(const Entry& entry) { return entry.kind == Entry::Kind::op && has_no_gradient(*entry.op); }

std::string cut_by(const Entry& entry, std::size_t input) {
  std::string text = "the path goes through " + std::string(entry.name());
  if (entry.edge(input).is_cut)
    return text + ", whose input of type " + std::string(dtype_name(entry.input_dtype(input))) + " carries no gradient";
  if (has_no_rule(entry)) return text + ", for which no gradient is registered";
  return text + ", which is not differentiable";
}

}  // namespace

Explanation::Explanation(Tape& tape, std::span<const Tensor> targets) : tape_(tape) {
  find_assignments();
  for (const Tensor& target : targets) {
    const Edge edge = tape.find(target);
    any_target_on_tape_ = any_target_on_tape_ || edge.exists();
    if (edge.exists()) visit(edge.entry, "");
  }
  follow();
}

void Explanation::find_assignments() {
  if (tape_.assignments().empty()) return;
  std::unordered_map<std::uint64_t, std::uint32_t> entries;  // of handles, by identity
  for (const Tensor& handle : tape_.watched_handles()) entries[identity_of(handle)] = tape_.find(handle).entry;
  for (const Assignment& assignment : tape_.assignments())
    if (const auto found = entries.find(assignment.handle); found != entries.end())
      assignments_[found->second].push_back(&assignment);
}

void Explanation::follow() {
  while (!stack_.empty()) {
    const std::uint32_t index = stack_.back();
    stack_.pop_back();
    const Entry& entry = tape_.entry(index);
    const std::string cut = cut_before_[index];
    for (std::size_t i = 0; i < entry.input_count; ++i) {
      const Edge& edge = entry.edge(i);
      if (!edge.exists()) continue;
      const bool cuts_here = entry.is_cut || edge.is_cut || has_no_rule(entry);
      visit(edge.entry, cuts_here ? cut_by(entry, i) : cut);  // of several cuts the one next to the source
    }
    follow_assignments(index, cut);
  }
}

/// A variable on the way may have been given a value that came from the source.
void Explanation::follow_assignments(std::uint32_t index, const std::string& cut) {
  const auto found = assignments_.find(index);
  if (found == assignments_.end()) return;
  for (const Assignment* assignment : found->second)
    visit(assignment->value.entry, !cut.empty() ? cut
                                                : "the path goes through an assignment to variable '" +
                                                      assignment->variable + "', which gradients do not follow");
}

void Explanation::visit(std::uint32_t index, const std::string& cut) {
  const auto [at, is_new] = cut_before_.try_emplace(index, cut);
  const bool is_better = !is_new && cut.empty() && !at->second.empty();  // a whole path beats a broken one
  if (is_better) at->second.clear();
  if (is_new || is_better) stack_.push_back(index);
}

std::string Explanation::of(const Tensor& source) const {
  const Edge edge = tape_.find(source);
  if (!edge.exists())
    return "the source is not watched: call tape.watch(source) before it is used, or make it a trainable variable";
  if (!any_target_on_tape_)
    return "the target was made outside the tape: before it began, after it stopped, while it was paused, on another "
           "thread, or from nothing that it watches";
  const auto found = cut_before_.find(edge.entry);
  if (found == cut_before_.end()) return "not reached: no recorded operation leads from the source to the target";
  return found->second.empty() ? "connected" : found->second;
}

}  // namespace capstan
