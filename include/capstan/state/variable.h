// Variables: values that change. A `Variable` is a handle; copies of it are the same variable, which lives as long as
// any of them. Reading gives a snapshot: a tensor that later assignments do not change. Trainable variables are watched
// by gradient tapes when they are read.
//
//   Variable v(constant({1.f, 2.f}), {.name = "v"});
//   v.assign_add({0.5f, 0.5f}).assign_sub(1.f * v);
//   Tensor y = v * 2;                                     // a variable can stand wherever a tensor can
//
// Reads and updates may come from several threads; each is atomic.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "capstan/function/detail/arguments.h"
#include "capstan/op/gradient.h"
#include "capstan/ops/operand.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

/// When copies of a variable on several devices are brought together; TensorFlow's numbers.
enum class VariableSynchronization { automatic = 0, none = 1, on_write = 2, on_read = 3 };
/// How copies of a variable are combined; TensorFlow's numbers.
enum class VariableAggregation { none = 0, sum = 1, mean = 2, only_first_replica = 3 };

struct VariableOptions {
  std::string name = "Variable";
  /// Followed by tapes when read, and listed as trainable. Unset: true, unless `synchronization` is `on_read`.
  std::optional<bool> trainable = {};
  /// The type to convert the initial value to; unset: the value's own.
  DType dtype = DType::invalid;
  /// What values may be assigned later; unset: the initial value's shape. May be partly known.
  std::optional<Shape> shape = {};
  VariableSynchronization synchronization = VariableSynchronization::automatic;
  VariableAggregation aggregation = VariableAggregation::none;
};

class Variable {
 public:
  /// A variable with an initial value. Throws InvalidArgument if `options.shape` does not fit it, TypeError if it does
  /// not convert to `options.dtype`.
  explicit Variable(Tensor initial_value, const VariableOptions& options = {});
  template <Element Number>
  explicit Variable(Number initial_value, const VariableOptions& options = {})
      : Variable(constant(initial_value), options) {}
  /// The initial value comes from a function, which is called once.
  template <class Function>
  requires(std::is_invocable_v<Function> &&
           !std::convertible_to<Function, Tensor>) explicit Variable(Function&& initial_value,
                                                                     const VariableOptions& options = {})
      : Variable(to_tensor_value(initial_value()), options) {}
  /// The variable behind a handle that another variable gave.
  static Variable from_handle(const Tensor& handle);

  /// A snapshot of the value.
  Tensor value() const;
  operator Tensor() const { return value(); }
  /// The tensor of type `resource` by which operations and tapes know the variable.
  const Tensor& handle() const { return handle_; }

  /// "NAME:0", as TensorFlow names the output of the variable's operation.
  std::string name() const;
  DType dtype() const;
  /// The declared shape, which may be partly known; the current value's is `value().shape()`.
  Shape shape() const;
  bool trainable() const { return info_->trainable; }
  VariableSynchronization synchronization() const { return info_->synchronization; }
  VariableAggregation aggregation() const { return info_->aggregation; }
  bool is_initialized() const;
  /// Are both handles to the same variable?
  bool is_same(const Variable& other) const;
  /// Name, shape, type and value, or "<unavailable>" in place of a value that cannot be read.
  std::string to_string() const;

  /// These take a tensor of the variable's type and shape or a number, and give the variable back, so that they chain.
  /// InvalidArgument for another shape (nothing broadcasts), TypeError for another type.
  const Variable& assign(Operand value) const;
  const Variable& assign_add(Operand value) const;
  const Variable& assign_sub(Operand value) const;

  /// Updates of rows; `slices.dense_shape` is not looked at. InvalidArgument for an index outside, before anything
  /// changes.
  const Variable& scatter_add(const IndexedSlices& slices) const;
  const Variable& scatter_sub(const IndexedSlices& slices) const;
  const Variable& scatter_update(const IndexedSlices& slices) const;
  /// Rows of the variable; its gradient is `IndexedSlices`.
  Tensor sparse_read(const Tensor& indices) const;

  /// A new variable with the same properties and value.
  Variable clone() const;

 private:
  struct Info {
    bool trainable = true;
    VariableSynchronization synchronization = VariableSynchronization::automatic;
    VariableAggregation aggregation = VariableAggregation::none;
  };
  Variable() = default;
  template <class Value>
  static Tensor to_tensor_value(Value&& value) {
    if constexpr (std::convertible_to<Value, Tensor>)
      return value;
    else
      return constant(value);
  }
  Tensor converted(Operand& value, const char* function) const;

  Tensor handle_;
  std::shared_ptr<const Info> info_;
};

/// Rows `indices` of a variable's first axis, read without copying the rest; the gradient is `IndexedSlices`.
Tensor gather(const Variable& variable, const Tensor& indices);

std::ostream& operator<<(std::ostream& out, const Variable& variable);

namespace detail {

/// A variable among the arguments of a function is passed by its handle.
template <>
struct HandleArgument<Variable> {
  static constexpr bool is_handle = true;
  static Tensor handle(const Variable& variable) { return variable.handle(); }
  static Variable from_handle(const Tensor& handle, const Variable&) { return Variable::from_handle(handle); }
};

}  // namespace detail

}  // namespace capstan
