// One execution of an operation, as gradient functions, batching rules and observers see it.
#pragma once

#include <span>
#include <string_view>

#include "capstan/op/attribute.h"
#include "capstan/tensor/tensor.h"

namespace capstan {

struct OpDef;

/// An input on its way to an operation: borrowed, or given away so that its memory may be reused for the output.
struct InputRef {
  InputRef(const Tensor& tensor) noexcept : tensor(&tensor) {}
  InputRef(Tensor&& tensor) noexcept : tensor(&tensor), is_given_away(true) {}

  const Tensor* tensor;
  bool is_given_away = false;
};

class OpCall {
 public:
  OpCall(const OpDef& op, const void* attributes, std::span<const InputRef> inputs, std::span<const Tensor> outputs)
      : op_(&op), attributes_(attributes), inputs_(inputs), outputs_(outputs) {}

  const OpDef& op() const noexcept { return *op_; }
  std::size_t input_count() const noexcept { return inputs_.size(); }
  std::size_t output_count() const noexcept { return outputs_.size(); }
  /// Input `i`. In a gradient function it is there only if the op's record says that the gradient needs it.
  const Tensor& input(std::size_t i) const {
    if (!inputs_[i].tensor->is_defined()) [[unlikely]]
      throw_not_saved("input", i);
    return *inputs_[i].tensor;
  }
  const Tensor& output(std::size_t i) const {
    if (!outputs_[i].is_defined()) [[unlikely]]
      throw_not_saved("output", i);
    return outputs_[i];
  }
  bool has_input(std::size_t i) const noexcept { return inputs_[i].tensor->is_defined(); }
  bool has_output(std::size_t i) const noexcept { return outputs_[i].is_defined(); }
  /// Shape and type of input `i`, which are there also when its value is not.
  const Shape& input_shape(std::size_t i) const {
    return has_input(i) ? inputs_[i].tensor->shape() : dropped_shapes_[same_shape_ ? 0 : i];
  }
  /// A tensor that has the shape of input `i`, for gradients that ask for a shape which is known only when the function
  /// runs; null if there is none.
  const Tensor* shape_source(std::size_t i) const {
    if (has_input(i)) return inputs_[i].tensor;
    return shape_sources_ && shape_sources_[i].is_defined() ? shape_sources_ + i : nullptr;
  }
  DType input_dtype(std::size_t i) const { return has_input(i) ? inputs_[i].tensor->dtype() : dropped_dtypes_[i]; }
  /// In a gradient function: will anybody look at the gradient of input `i`? Others may be left empty.
  bool needs_gradient(std::size_t i) const noexcept { return i >= 64 || (needed_ >> i & 1); }

  template <class Attributes>
  const Attributes& attributes() const noexcept {
    return *static_cast<const Attributes*>(attributes_);
  }
  const void* raw_attributes() const noexcept { return attributes_; }
  /// An attribute by its name. Throws InvalidArgument if the op has none of that name.
  AttributeValue attribute(std::string_view name) const;
  std::span<const InputRef> inputs() const noexcept { return inputs_; }
  std::span<const Tensor> outputs() const noexcept { return outputs_; }

  /// For the tape: what it knows of inputs that it did not keep.
  void describe_dropped(const Shape* shapes, bool same_shape, const DType* dtypes, std::uint64_t needed,
                        const Tensor* sources = nullptr) noexcept {
    dropped_shapes_ = shapes;
    shape_sources_ = sources;
    same_shape_ = same_shape;
    dropped_dtypes_ = dtypes;
    needed_ = needed;
  }

 private:
  [[noreturn]] void throw_not_saved(const char* what, std::size_t i) const;

  const OpDef* op_;
  const void* attributes_;
  std::span<const InputRef> inputs_;
  std::span<const Tensor> outputs_;
  const Shape* dropped_shapes_ = nullptr;
  const Tensor* shape_sources_ = nullptr;
  const DType* dropped_dtypes_ = nullptr;
  std::uint64_t needed_ = ~std::uint64_t{0};
  bool same_shape_ = false;
};

}  // namespace capstan
