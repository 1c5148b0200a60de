// Kernels: the code that computes an operation's outputs from its inputs, one per element type.
#pragma once

#include <array>
#include <span>
#include <string>

#include "capstan/op/infer.h"
#include "capstan/op/op_call.h"

namespace capstan {

/// What a kernel is given. Shapes, types and attributes have been checked by the op's shape function; a kernel checks
/// only what depends on values.
class KernelContext {
 public:
  KernelContext(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                std::span<const TensorSpec> specs, std::span<Tensor> outputs, bool may_take_over = false)
      : op_(op),
        attributes_(attributes),
        inputs_(inputs),
        specs_(specs),
        outputs_(outputs),
        may_take_over_(may_take_over) {}

  std::size_t input_count() const noexcept { return inputs_.size(); }
  std::size_t output_count() const noexcept { return outputs_.size(); }
  const Tensor& input(std::size_t i) const noexcept { return *inputs_[i].tensor; }
  /// The elements of input `i`, whose type the kernel knows from its place in the table.
  template <class T>
  const T* data(std::size_t i) const noexcept {
    return static_cast<const T*>(inputs_[i].tensor->rep_or_null()->data);
  }
  template <class Attributes>
  const Attributes& attributes() const noexcept {
    return *static_cast<const Attributes*>(attributes_);
  }

  const TensorSpec& output_spec(std::size_t i) const noexcept { return specs_[i]; }
  /// Makes output `i` as the shape function said and returns its elements, uninitialized.
  template <class T>
  T* make_output(std::size_t i) {
    return static_cast<T*>(make_output(i, specs_[i].shape));
  }
  /// The same with a shape that only the values decide.
  void* make_output(std::size_t i, const Shape& shape);
  /// Makes output `i` over the memory of input `from` if that was given away and has the same number of bytes;
  /// otherwise new. For kernels that read each element before they write it.
  template <class T>
  T* make_output_over(std::size_t i, std::size_t from) {
    return static_cast<T*>(make_output_over_input(i, from));
  }
  /// Would `make_output_over` reuse that input's memory?
  bool can_take_over(std::size_t i, std::size_t from) const;
  /// Hands over a finished tensor as output `i`; it must not be one of the inputs (an output has its own identity).
  void set_output(std::size_t i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  Tensor& output(std::size_t i) noexcept { return outputs_[i]; }

  const OpDef& op() const noexcept { return op_; }
  /// Throws InvalidArgument with the op's name in front.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void* make_output_over_input(std::size_t i, std::size_t from);

  const OpDef& op_;
  const void* attributes_;
  std::span<const InputRef> inputs_;
  std::span<const TensorSpec> specs_;
  std::span<Tensor> outputs_;
  bool may_take_over_;
};

using Kernel = void (*)(KernelContext&);

/// The kernels of one op, by the element type that its signature names first after the semicolon (slot 0 for ops
/// without such a type).
struct KernelSet {
  std::array<Kernel, kDTypeCount> by_type{};

  constexpr Kernel operator[](DType dtype) const noexcept { return by_type[static_cast<std::size_t>(dtype)]; }
  constexpr KernelSet& set(DType dtype, Kernel kernel) {
    by_type[static_cast<std::size_t>(dtype)] = kernel;
    return *this;
  }
  bool empty() const noexcept {
    for (Kernel kernel : by_type)
      if (kernel) return false;
    return true;
  }
};

namespace detail {
/// Throws InvalidArgument unless the first `inputs` inputs and output 0 have one shape and that element type.
void check_elementwise(const KernelContext& context, std::size_t inputs, DType dtype);
}  // namespace detail

/// Kernels that call `function`, a lambda without captures, for each element: one or two inputs of the same shape and
/// type as the output; others are an InvalidArgument (nothing is broadcast). For operations of one's own:
/// `.cpu = elementwise<float, double>([](auto x) { return x * x * x; })`.
template <class... Types, class Function>
constexpr KernelSet elementwise(Function) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(),
               [](KernelContext& context) {
                 constexpr bool is_unary = std::is_invocable_v<Function, Types>;
                 detail::check_elementwise(context, is_unary ? 1 : 2, dtype_of<Types>());
                 const std::int64_t count = context.input(0).size();
                 if constexpr (is_unary) {
                   Types* out = context.make_output_over<Types>(0, 0);
                   const Types* x = context.data<Types>(0);
                   for (std::int64_t i = 0; i < count; ++i) out[i] = Function{}(x[i]);
                 } else {
                   Types* out = context.make_output<Types>(0);
                   const Types* x = context.data<Types>(0);
                   const Types* y = context.data<Types>(1);
                   for (std::int64_t i = 0; i < count; ++i) out[i] = Function{}(x[i], y[i]);
                 }
               }),
   ...);
  return kernels;
}

}  // namespace capstan
