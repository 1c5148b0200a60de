// What can be saved: objects with named children, down to variables. Layers, optimizers and variables are such objects;
// a program's own structs become one by listing their children:
//
//   struct Agent {
//     nn::Dense policy{16, tanh};
//     Variable temperature{1.f};
//     std::vector<NamedChild> children() const { return {{"policy", policy}, {"temperature", temperature}}; }
//   };
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "capstan/state/variable.h"

namespace capstan {

struct NamedChild;

/// A variable that belongs to another one and to an optimizer: a momentum, a second moment.
struct SlotVariable {
  Variable variable;
  std::string slot;
  Variable value;
};

/// The object behind a handle that can be saved.
class TrackableObject {
 public:
  virtual ~TrackableObject();
  /// The children, in a fixed order; names are unique and not empty.
  virtual std::vector<NamedChild> children() const = 0;
  /// The slots that this object, an optimizer, keeps for variables.
  virtual std::vector<SlotVariable> slots() const;
  /// Does this object keep slots of that name?
  virtual bool keeps_slot(const std::string& slot) const;
  /// Makes a slot that a checkpoint holds, if it is not there and this object keeps slots of that name.
  virtual void create_slot(const Variable& variable, const std::string& slot) const;
};

/// Something with a `trackable()`: layers, optimizers.
template <class T>
concept HasTrackable = requires(const T& object) {
  { object.trackable() } -> std::convertible_to<std::shared_ptr<const TrackableObject>>;
};
/// Something that lists its children itself.
template <class T>
concept HasChildren = requires(const T& object) {
  { object.children() } -> std::convertible_to<std::vector<NamedChild>>;
};

/// A variable or an object, by reference.
class Trackable {
 public:
  Trackable(const Variable& variable) : held_(variable) {}
  template <HasTrackable Object>
  Trackable(const Object& object) : held_(std::shared_ptr<const TrackableObject>(object.trackable())) {}
  /// The children as they are now; those added later are not seen.
  template <class Object>
  requires(HasChildren<Object> && !HasTrackable<Object>) Trackable(const Object& object);

  /// Null unless it is a variable.
  const Variable* variable() const { return std::get_if<Variable>(&held_); }
  const TrackableObject* object() const {
    const auto* held = std::get_if<std::shared_ptr<const TrackableObject>>(&held_);
    return held ? held->get() : nullptr;
  }
  /// The same object has the same identity, whichever handle leads to it.
  const void* identity() const;

 private:
  std::variant<Variable, std::shared_ptr<const TrackableObject>> held_;
};

struct NamedChild {
  std::string name;
  Trackable child;
};

namespace detail {

class ListedChildren final : public TrackableObject {
 public:
  explicit ListedChildren(std::vector<NamedChild> children) : children_(std::move(children)) {}
  std::vector<NamedChild> children() const override { return children_; }

 private:
  std::vector<NamedChild> children_;
};

}  // namespace detail

template <class Object>
requires(HasChildren<Object> && !HasTrackable<Object>) Trackable::Trackable(const Object& object)
    : held_(std::shared_ptr<const TrackableObject>(std::make_shared<detail::ListedChildren>(object.children()))) {}

/// All variables below an object, each once, in the order of a walk that visits children before grandchildren.
std::vector<Variable> variables_of(const Trackable& root);
std::vector<Variable> trainable_variables_of(const Trackable& root);

}  // namespace capstan
