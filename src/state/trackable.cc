#include "capstan/state/trackable.h"

#include <deque>
#include <set>

#include "tensor/storage.h"

namespace capstan {

TrackableObject::~TrackableObject() = default;
std::vector<SlotVariable> TrackableObject::slots() const { return {}; }
bool TrackableObject::keeps_slot(const std::string&) const { return false; }
void TrackableObject::create_slot(const Variable&, const std::string&) const {}

const void* Trackable::identity() const {
  if (const Variable* held = variable()) return resource_of(held->handle());
  return object();
}

std::vector<Variable> variables_of(const Trackable& root) {
  std::vector<Variable> variables;
  std::set<const void*> seen;
  for (std::deque<Trackable> queue{root}; !queue.empty(); queue.pop_front()) {
    const Trackable at = queue.front();
    if (!seen.insert(at.identity()).second) continue;
    if (at.variable())
      variables.push_back(*at.variable());
    else
      for (const NamedChild& child : at.object()->children()) queue.push_back(child.child);
  }
  return variables;
}

std::vector<Variable> trainable_variables_of(const Trackable& root) {
  std::vector<Variable> variables = variables_of(root);
  std::erase_if(variables, [](const Variable& variable) { return !variable.trainable(); });
  return variables;
}

}  // namespace capstan
