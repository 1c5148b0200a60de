// Operations. Every operation is one record, `OpDef`, and is executed by one door, `apply`: infer the outputs' shapes,
// run the kernel (or add a node while a function is traced), tell the observers (gradient tapes among them).
//
// An operation of one's own:
//
//   const Op cube = define_op({
//       .signature = "Cube(x: T) -> (y: T); T: {float, double}",
//       .summary = "x cubed, elementwise.",
//       .shape = shape::unchanged,
//       .gradient = [](const OpCall& call, Tensor dy) { return dy * 3 * square(call.input(0)); },
//       .cpu = elementwise<float, double>([](auto x) { return x * x * x; }),
//   });
//   Tensor y = cube(x);
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/op/gradient.h"
#include "capstan/op/infer.h"
#include "capstan/op/kernel.h"
#include "capstan/op/op_call.h"

namespace capstan {

namespace detail {
struct OpRuntime;
}

/// The gradient of an op: from the gradients of its outputs to those of its inputs, written with public ops only, so
/// that it can be traced, saved and differentiated again. Made from a lambda without captures that takes the call and
/// either one tensor (ops with one output) or a span of gradients, and returns one gradient (that of the first input)
/// or `Gradients`, one per input.
class GradientFn {
 public:
  using Call = void (*)(const OpCall&, std::span<Gradient> output_gradients, std::span<Gradient> input_gradients);

  constexpr GradientFn() = default;
  template <class Function>
  requires std::is_empty_v<Function>
  constexpr GradientFn(Function) : call_(&invoke<Function>) {}

  /// Marks an op whose inputs never have a gradient.
  static constexpr GradientFn not_differentiable() {
    GradientFn none;
    none.is_not_differentiable_ = true;
    return none;
  }
  bool is_not_differentiable() const noexcept { return is_not_differentiable_; }
  /// Is there a function to call?
  explicit operator bool() const noexcept { return call_ != nullptr; }
  void operator()(const OpCall& call, std::span<Gradient> dy, std::span<Gradient> dx) const { call_(call, dy, dx); }

 private:
  template <class Function>
  static void invoke(const OpCall& call, std::span<Gradient> dy, std::span<Gradient> dx) {
    if constexpr (std::is_invocable_v<Function, const OpCall&, std::span<const Gradient>>)
      store(call, Function{}(call, std::span<const Gradient>(dy)), dx);
    else
      store(call, Function{}(call, std::exchange(dy[0], {}).tensor()), dx);
  }
  /// One gradient alone is that of the first input; the others have none.
  static void store(const OpCall&, Gradient gradient, std::span<Gradient> dx) { dx[0] = std::move(gradient); }
  static void store(const OpCall& call, Gradients gradients, std::span<Gradient> dx) {
    if (gradients.size() != dx.size()) [[unlikely]]
      throw_count(call, gradients.size(), dx.size());
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] = std::move(gradients[i]);
  }
  [[noreturn]] static void throw_count(const OpCall& call, std::size_t got, std::size_t expected);

  Call call_ = nullptr;
  bool is_not_differentiable_ = false;
};

/// For `.gradient`: nothing flows through this op, by its nature.
inline constexpr GradientFn not_differentiable = GradientFn::not_differentiable();

/// How an op runs on a batch of its inputs in one call. `call.input(i)` has one more dimension in front where
/// `is_batched[i]`; the outputs must have it too. Vectorised jacobians and batched tangents use it.
using BatchingFn = std::vector<Tensor> (*)(const OpCall& call, std::span<const bool> is_batched);
/// For `.batching`: run the op once per member of the batch.
inline constexpr BatchingFn by_loop = nullptr;

/// How tangents go forward through an op. Without a rule, elementwise ops with arguments of one shape use their
/// gradient (a diagonal is its own transpose), all others the transpose of their gradient.
class ForwardRule {
 public:
  /// From the tangents of the inputs (undefined where there is none, at least one is there) to those of the outputs.
  using Function = void (*)(const OpCall& call, std::span<const Tensor> tangents, std::span<Tensor> output_tangents);
  enum class Kind : std::uint8_t { derived, linear, multilinear, function };

  constexpr ForwardRule() = default;
  constexpr ForwardRule(Function function) : kind_(Kind::function), function_(function) {}
  template <class Lambda>
  requires std::is_empty_v<Lambda>
  constexpr ForwardRule(Lambda lambda) : ForwardRule(static_cast<Function>(lambda)) {}
  constexpr ForwardRule(Kind kind, std::uint64_t inputs) : kind_(kind), inputs_(inputs) {}

  Kind kind() const noexcept { return kind_; }
  Function function() const noexcept { return function_; }
  /// Is the op linear in input `i`?
  bool is_linear_in(std::size_t i) const noexcept { return inputs_ >> (i < 63 ? i : 63) & 1; }

 private:
  Kind kind_ = Kind::derived;
  std::uint64_t inputs_ = 0;
  Function function_ = nullptr;
};

/// For `.forward`.
namespace forward {

constexpr std::uint64_t bits_of(std::initializer_list<int> inputs) {
  std::uint64_t bits = 0;
  for (int i : inputs) bits |= std::uint64_t{1} << i;
  return bits;
}
/// The op is linear in these inputs taken together: their tangents go through the op itself.
constexpr ForwardRule linear(std::initializer_list<int> inputs) { return {ForwardRule::Kind::linear, bits_of(inputs)}; }
constexpr ForwardRule linear_in_all() { return {ForwardRule::Kind::linear, ~std::uint64_t{0}}; }
/// The op is linear in each of these inputs while the others stand still: a product.
constexpr ForwardRule multilinear(std::initializer_list<int> inputs) {
  return {ForwardRule::Kind::multilinear, bits_of(inputs)};
}
constexpr ForwardRule multilinear_in_all() { return {ForwardRule::Kind::multilinear, ~std::uint64_t{0}}; }

}  // namespace forward

/// Which inputs and outputs the gradient reads; the tape keeps nothing else. Bit i stands for input or output i, bits
/// from 63 on for all the rest. Shapes and types of inputs are kept in any case.
struct Saves {
  std::uint64_t inputs = ~std::uint64_t{0};
  std::uint64_t outputs = ~std::uint64_t{0};

  static constexpr Saves nothing() { return {0, 0}; }
  static constexpr Saves all_inputs() { return {~std::uint64_t{0}, 0}; }
  static constexpr Saves all_outputs() { return {0, ~std::uint64_t{0}}; }
  static constexpr Saves only(std::initializer_list<int> inputs, std::initializer_list<int> outputs = {}) {
    Saves saves{0, 0};
    for (int i : inputs) saves.inputs |= std::uint64_t{1} << i;
    for (int i : outputs) saves.outputs |= std::uint64_t{1} << i;
    return saves;
  }
  constexpr bool input(std::size_t i) const { return inputs >> (i < 63 ? i : 63) & 1; }
  constexpr bool output(std::size_t i) const { return outputs >> (i < 63 ? i : 63) & 1; }
};

struct OpFacts {
  bool elementwise = false;  // output element i depends on the inputs' elements at i (after broadcasting) alone
  bool commutative = false;  // the first two inputs may change places
  bool stateful = false;     // may not be merged, folded or dropped
  bool reads_only = false;   // looks at the resources among its inputs and changes none
  bool shapes_only = false;  // looks at the shapes of its inputs alone
  /// Outputs whose absent gradient stays absent instead of becoming zeros (bit i: output i).
  std::uint64_t gradient_may_be_absent = 0;
};

/// The record of an operation: all that is known of it except kernels, which live in the kernel table.
struct OpDef {
  /// "MatMul(a: T, b: T) -> (product: T); T: floating|complex|int32|int64". Lists are `values: N*T` (N of one type)
  /// or `input: Tin...` (mixed). Types are TensorFlow's names, the groups any, number, real, floating, integer,
  /// complex, or a brace list `{float, double}`.
  std::string_view signature;
  /// One line, for a list of all ops.
  std::string_view summary;
  ShapeFn shape = nullptr;
  GradientFn gradient = {};
  BatchingFn batching = by_loop;
  ForwardRule forward = {};
  const AttributeSchema& (*attributes)() = nullptr;
  Saves saves = {};
  OpFacts facts = {};
  /// Kernels of a user's op; the built-in ones stand in the CPU folder's table.
  KernelSet cpu = {};

  mutable const detail::OpRuntime* runtime = nullptr;  // set at registration

  /// "MatMul".
  std::string_view name() const { return signature.substr(0, signature.find('(')); }
};

/// Runs an op with one output. `attributes` is the op's attribute struct, or null for the defaults.
Tensor apply(const OpDef& op, std::initializer_list<InputRef> inputs, const void* attributes = nullptr);
Tensor apply(const OpDef& op, std::span<const InputRef> inputs, const void* attributes = nullptr);
/// Runs an op with any number of outputs.
std::vector<Tensor> apply_all(const OpDef& op, std::span<const InputRef> inputs, const void* attributes = nullptr);
std::vector<Tensor> apply_all(const OpDef& op, std::initializer_list<InputRef> inputs,
                              const void* attributes = nullptr);

/// A registered operation, by value; it is a reference to the record, which lives as long as the process.
class Op {
 public:
  explicit Op(const OpDef& def) : def_(&def) {}
  const OpDef& def() const noexcept { return *def_; }
  std::string_view name() const { return def_->name(); }

  /// Runs the op with its default attributes; it must have one output.
  template <class... Inputs>
  requires(std::convertible_to<Inputs, Tensor>&&...) Tensor operator()(const Inputs&... inputs) const {
    return call({Tensor(inputs)...}, {});
  }
  /// Runs the op with attributes by name.
  Tensor call(std::initializer_list<Tensor> inputs, const AttributeMap& attributes) const;
  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const AttributeMap& attributes) const;

 private:
  const OpDef* def_;
};

/// Registers an operation of one's own. Throws AlreadyExists if the name is taken, InvalidArgument if the signature
/// cannot be read or a part is missing. Thread-safe. The strings are copied.
Op define_op(OpDef def);

/// The op of that name; throws NotFound with similar names.
Op find_op(std::string_view name);
/// All ops, sorted by name.
std::vector<Op> all_ops();

}  // namespace capstan
