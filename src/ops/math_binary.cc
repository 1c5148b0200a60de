// Elementwise arithmetic of two arguments, with NumPy's broadcasting, and the sum of many tensors.
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/select.h"
#include "ops/math.h"
#include "ops/records.h"

namespace capstan {
namespace {

Gradients sum_gradient(const OpCall& call, const Tensor& dz) {
  return {unbroadcast(call, 0, dz), unbroadcast(call, 1, dz)};
}

/// The gradient goes to the argument that was chosen; to the first where both are equal.
Gradients choice_gradient(const OpCall& call, const Tensor& dz, const Tensor& is_first) {
  const Tensor zero = constant_as(constant(0), dz.dtype());
  Gradients gradients(2);
  if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, where(is_first, dz, zero));
  if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, where(is_first, zero, dz));
  return gradients;
}

Tensor spread_to(const OpCall& call, const Tensor& tangent) {
  const Tensor& output = call.output(0);
  if (output.size() < 0) return broadcast_to(tangent, shape_of(output));
  return tangent.shape() == output.shape() ? tangent : broadcast_to(tangent, output.shape());
}

constexpr ForwardRule sum_forward = [](const OpCall& call, std::span<const Tensor> tangents, std::span<Tensor> out) {
  const Tensor &x = tangents[0], &y = tangents[1];
  out[0] = x.is_defined() && y.is_defined() ? x + y : spread_to(call, x.is_defined() ? x : y);
};
constexpr ForwardRule difference_forward = [](const OpCall& call, std::span<const Tensor> tangents,
                                              std::span<Tensor> out) {
  const Tensor &x = tangents[0], &y = tangents[1];
  out[0] = x.is_defined() && y.is_defined() ? x - y : spread_to(call, x.is_defined() ? x : negative(y));
};

void add_n_shape(InferContext& context) {
  if (!context.input_count()) context.fail("needs at least one tensor, got none");
  shape::all_same(context);
}

}  // namespace

const OpDef add_op =
    with_forward(binary_record(
                     "Add(x: T, y: T) -> (z: T); T: floating|complex|signed|{uint8, string}",
                     "x + y, elementwise; strings are joined. The old form of AddV2.",
                     [](const OpCall& call, Tensor dz) { return sum_gradient(call, dz); }, Saves::nothing()),
                 sum_forward);

const OpDef add_v2_op = with_forward(binary_record(
                                         "AddV2(x: T, y: T) -> (z: T); T: number", "x + y, elementwise.",
                                         [](const OpCall& call, Tensor dz) { return sum_gradient(call, dz); },
                                         Saves::nothing(), /*is_commutative=*/true),
                                     sum_forward);

const OpDef sub_op = with_forward(
    binary_record(
        "Sub(x: T, y: T) -> (z: T); T: number", "x - y, elementwise.",
        [](const OpCall& call, Tensor dz) {
          return Gradients{unbroadcast(call, 0, dz),
                           call.needs_gradient(1) ? Gradient(unbroadcast(call, 1, negative(dz))) : Gradient()};
        },
        Saves::nothing()),
    difference_forward);

const OpDef mul_op = with_forward(binary_record(
                                      "Mul(x: T, y: T) -> (z: T); T: number", "x * y, elementwise.",
                                      [](const OpCall& call, Tensor dz) {
                                        Gradients gradients(2);
                                        if (call.needs_gradient(0))
                                          gradients[0] = unbroadcast(call, 0, dz * conj(call.input(1)));
                                        if (call.needs_gradient(1))
                                          gradients[1] = unbroadcast(call, 1, std::move(dz) * conj(call.input(0)));
                                        return gradients;
                                      },
                                      Saves::all_inputs(), /*is_commutative=*/true),
                                  forward::multilinear({0, 1}));

const OpDef mul_no_nan_op = binary_record(
    "MulNoNan(x: T, y: T) -> (z: T); T: floating|complex", "x * y, but 0 where y is 0, even for x infinite or NaN.",
    [](const OpCall& call, Tensor dz) {
      Gradients gradients(2);
      if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, multiply_no_nan(dz, call.input(1)));
      if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, multiply_no_nan(call.input(0), dz));
      return gradients;
    },
    Saves::all_inputs());

const OpDef maximum_op = binary_record(
    "Maximum(x: T, y: T) -> (z: T); T: real", "The larger of x and y, elementwise.",
    [](const OpCall& call, Tensor dz) { return choice_gradient(call, dz, call.input(0) >= call.input(1)); },
    Saves::all_inputs(), /*is_commutative=*/true);

const OpDef minimum_op = binary_record(
    "Minimum(x: T, y: T) -> (z: T); T: real", "The smaller of x and y, elementwise.",
    [](const OpCall& call, Tensor dz) { return choice_gradient(call, dz, call.input(0) <= call.input(1)); },
    Saves::all_inputs(), /*is_commutative=*/true);

const OpDef squared_difference_op = binary_record(
    "SquaredDifference(x: T, y: T) -> (z: T); T: floating|complex|{int32, int64}",
    "conj(x - y) * (x - y), elementwise.",
    [](const OpCall& call, Tensor dz) {
      const Tensor dx = 2 * std::move(dz) * (call.input(0) - call.input(1));
      Gradients gradients(2);
      if (call.needs_gradient(0)) gradients[0] = unbroadcast(call, 0, dx);
      if (call.needs_gradient(1)) gradients[1] = unbroadcast(call, 1, negative(dx));
      return gradients;
    },
    Saves::all_inputs(), /*is_commutative=*/true);

const OpDef add_n_op{
    .signature = "AddN(inputs: N*T) -> (sum: T); T: number|{variant}",
    .summary = "Sum of tensors of one shape.",
    .shape = add_n_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Gradients gradients(call.input_count());
          for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = dy;
          return gradients;
        },
    .batching = batching::same_shape,
    .forward = forward::linear_in_all(),
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

namespace {

/// Strings are joined by the older op only, lists are added by AddN.
Tensor sum(Operand& x, Operand& y) {
  if (x.tensor().dtype() == DType::variant) return apply(add_n_op, {x.input(), y.input()});
  return apply_binary(x.tensor().dtype() == DType::string ? add_op : add_v2_op, x, y);
}

}  // namespace

Tensor add(Operand x, Operand y) { return sum(x, y); }
Tensor subtract(Operand x, Operand y) { return apply_binary(sub_op, x, y); }
Tensor multiply(Operand x, Operand y) { return apply_binary(mul_op, x, y); }
Tensor multiply_no_nan(Operand x, Operand y) { return apply_binary(mul_no_nan_op, x, y); }
Tensor maximum(Operand x, Operand y) { return apply_binary(maximum_op, x, y); }
Tensor minimum(Operand x, Operand y) { return apply_binary(minimum_op, x, y); }
Tensor squared_difference(Operand x, Operand y) { return apply_binary(squared_difference_op, x, y); }
Tensor add_n(std::span<const Tensor> tensors) {
  if (tensors.empty()) throw InvalidArgument("AddN: needs at least one tensor, got none");
  const std::vector<InputRef> inputs(tensors.begin(), tensors.end());
  return apply(add_n_op, std::span<const InputRef>(inputs));
}

Tensor operator+(Operand x, Operand y) { return sum(x, y); }
Tensor operator-(Operand x, Operand y) { return apply_binary(sub_op, x, y); }
Tensor operator*(Operand x, Operand y) { return apply_binary(mul_op, x, y); }
Tensor& operator+=(Tensor& x, Operand y) { return update(x, y, sum); }
Tensor& operator-=(Tensor& x, Operand y) {
  return update(x, y, [](Operand& left, Operand& right) { return apply_binary(sub_op, left, right); });
}
Tensor& operator*=(Tensor& x, Operand y) {
  return update(x, y, [](Operand& left, Operand& right) { return apply_binary(mul_op, left, right); });
}

OpList math_binary_ops() {
  static constexpr const OpDef* list[] = {&add_op,        &add_v2_op,  &sub_op,     &mul_op,
                                          &mul_no_nan_op, &maximum_op, &minimum_op, &squared_difference_op,
                                          &add_n_op};
  return list;
}

}  // namespace capstan
