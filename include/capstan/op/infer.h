// Shape functions: from the inputs' types, shapes (which may be partly known) and, where they are known, values, to the
// outputs' shapes. All errors about shapes, types and attributes are made here, so that eager and traced code fail
// alike.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "capstan/op/op_call.h"

namespace capstan {

/// Type and shape of an output.
struct TensorSpec {
  DType dtype = DType::invalid;
  Shape shape;
};

class InferContext {
 public:
  InferContext(const OpDef& op, const void* attributes, std::span<const InputRef> inputs, std::span<TensorSpec> outputs)
      : op_(op), attributes_(attributes), inputs_(inputs), outputs_(outputs) {}

  std::size_t input_count() const noexcept { return inputs_.size(); }
  std::size_t output_count() const noexcept { return outputs_.size(); }
  DType input_dtype(std::size_t i) const { return inputs_[i].tensor->dtype(); }
  const Shape& input_shape(std::size_t i) const { return inputs_[i].tensor->shape(); }
  /// The input's value, or null where only its type and shape are known.
  const Tensor* input_value(std::size_t i) const {
    return inputs_[i].tensor->is_symbolic() ? traced_value(i) : inputs_[i].tensor;
  }
  const Tensor& input(std::size_t i) const { return *inputs_[i].tensor; }
  template <class Attributes>
  const Attributes& attributes() const noexcept {
    return *static_cast<const Attributes*>(attributes_);
  }

  DType output_dtype(std::size_t i) const { return outputs_[i].dtype; }
  const Shape& output_shape(std::size_t i) const { return outputs_[i].shape; }
  void set_output(std::size_t i, const Shape& shape) { outputs_[i].shape = shape; }
  void set_output_dtype(std::size_t i, DType dtype) { outputs_[i].dtype = dtype; }

  /// Elements of an integer input as 64-bit numbers. Throws InvalidArgument if its value is not known (ask
  /// `input_value` first), TypeError if its type is no integer of up to 64 bits.
  std::vector<std::int64_t> integers(std::size_t i) const;
  /// Input `i`, a vector of integers, read as a shape: unknown where its value is not known. Throws InvalidArgument for
  /// negative sizes (-1 means "unknown" if `allow_unknown`).
  Shape shape_from_input(std::size_t i, bool allow_unknown = false) const;
  /// Throws InvalidArgument unless input `i` has that rank or an unknown one; `argument` is its name in messages.
  void require_rank(std::size_t i, int rank, std::string_view argument) const;
  void require_rank_at_least(std::size_t i, int rank, std::string_view argument) const;
  /// `axis` counted from the front, for a tensor of `rank` dimensions; throws InvalidArgument if it is outside.
  int normalize_axis(std::int64_t axis, int rank, std::string_view argument) const;
  /// The shape both describe; throws InvalidArgument if they contradict each other.
  Shape merge(const Shape& a, const Shape& b, std::string_view what) const;

  const OpDef& op() const noexcept { return op_; }
  std::string_view op_name() const;
  /// Throws InvalidArgument with the op's name in front.
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_type(const std::string& message) const;

 private:
  /// The value of a symbolic input that is the same in every run of the traced function.
  const Tensor* traced_value(std::size_t i) const;

  const OpDef& op_;
  const void* attributes_;
  std::span<const InputRef> inputs_;
  std::span<TensorSpec> outputs_;
};

using ShapeFn = void (*)(InferContext&);

/// Shape functions that many ops share.
namespace shape {

/// Every output has the shape of the first input.
void unchanged(InferContext& context);
/// NumPy's broadcasting of the first two inputs.
void broadcast(InferContext& context);
/// NumPy's broadcasting of all inputs.
void broadcast_all(InferContext& context);
/// Every output is a scalar.
void scalar(InferContext& context);
/// Nothing is known but the types; for ops whose outputs depend on values alone.
void unknown(InferContext& context);
/// No output, nothing to check.
void none(InferContext& context);

/// NumPy's broadcasting of two shapes; throws InvalidArgument through `context`.
Shape broadcast_shapes(const InferContext& context, const Shape& a, const Shape& b);

}  // namespace shape
}  // namespace capstan
