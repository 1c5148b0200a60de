// Arguments of functions that take "a tensor or a number": a number takes the element type of the tensor beside it.
#pragma once

#include <complex>
#include <concepts>
#include <optional>
#include <utility>

#include "capstan/op/op_call.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

class Operand {
 public:
  Operand(const Tensor& tensor) noexcept : tensor_(&tensor) {}
  /// A temporary: its memory may be reused for the result.
  Operand(Tensor&& tensor) noexcept : owned_(std::move(tensor)) {}
  /// A variable, a gradient: whatever turns into a tensor.
  template <class Value>
  requires(std::convertible_to<Value, Tensor> && !std::same_as<std::remove_cvref_t<Value>, Tensor>)
      Operand(Value&& value)
      : owned_(static_cast<Tensor>(std::forward<Value>(value))) {}
  template <Element Number>
  requires(!std::same_as<Number, std::string>) Operand(Number number) : owned_(constant(number)), is_number_(true) {}
  Operand(const char* text) : owned_(constant(text)) {}
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  bool is_number() const noexcept { return is_number_; }
  const Tensor& tensor() const noexcept { return tensor_ ? *tensor_ : owned_; }
  /// Gives a number the element type of `other`; throws TypeError if it does not fit into it.
  void match(const Operand& other) {
    if (is_number_ && owned_.dtype() != other.tensor().dtype()) owned_ = constant_as(owned_, other.tensor().dtype());
  }
  InputRef input() noexcept { return tensor_ ? InputRef(*tensor_) : InputRef(std::move(owned_)); }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor owned_;
  bool is_number_ = false;
};

}  // namespace capstan
