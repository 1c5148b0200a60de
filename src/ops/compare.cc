// Comparisons and logic; elementwise, with NumPy's broadcasting. Their results are bool, so no gradient flows.
#include "capstan/ops/compare.h"

#include <algorithm>

#include "ops/compare.h"
#include "ops/records.h"

namespace capstan {
namespace {

void equal_shape(InferContext& context) {
  const Shape &x = context.input_shape(0), &y = context.input_shape(1);
  if (context.attributes<EqualAttributes>().incompatible_shape_error) return shape::broadcast(context);
  if (!can_broadcast(x, y)) return context.set_output(0, Shape{});
  // With sizes unknown the result may still be a scalar: "not equal" for shapes that do not fit.
  const bool is_known = (x.is_fully_known() && y.is_fully_known()) || x.is_scalar() || y.is_scalar();
  context.set_output(0, is_known ? shape::broadcast_shapes(context, x, y) : Shape::unknown());
}

constexpr OpDef equality_record(std::string_view signature, std::string_view summary) {
  OpDef record = binary_record(signature, summary, not_differentiable, Saves::nothing(), /*is_commutative=*/true);
  record.shape = equal_shape;
  record.attributes = attributes<EqualAttributes>;
  record.batching = by_loop;  // shapes that do not fit give a scalar, which a batch would not
  return record;
}

}  // namespace

bool can_broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const std::int64_t size_a = a[a.rank() - i], size_b = b[b.rank() - i];
    if (size_a >= 0 && size_b >= 0 && size_a != 1 && size_b != 1 && size_a != size_b) return false;
  }
  return true;
}

const OpDef equal_op =
    equality_record("Equal(x: T, y: T) -> (z: bool); T: number|{bool, string}", "x == y, elementwise.");
const OpDef not_equal_op =
    equality_record("NotEqual(x: T, y: T) -> (z: bool); T: number|{bool, string}", "x != y, elementwise.");
const OpDef less_op = binary_record("Less(x: T, y: T) -> (z: bool); T: real", "x < y, elementwise.", not_differentiable,
                                    Saves::nothing());
const OpDef less_equal_op = binary_record("LessEqual(x: T, y: T) -> (z: bool); T: real", "x <= y, elementwise.",
                                          not_differentiable, Saves::nothing());
const OpDef greater_op = binary_record("Greater(x: T, y: T) -> (z: bool); T: real", "x > y, elementwise.",
                                       not_differentiable, Saves::nothing());
const OpDef greater_equal_op = binary_record("GreaterEqual(x: T, y: T) -> (z: bool); T: real", "x >= y, elementwise.",
                                             not_differentiable, Saves::nothing());
const OpDef logical_and_op = binary_record("LogicalAnd(x: bool, y: bool) -> (z: bool)", "x and y, elementwise.",
                                           not_differentiable, Saves::nothing(), /*is_commutative=*/true);
const OpDef logical_or_op = binary_record("LogicalOr(x: bool, y: bool) -> (z: bool)", "x or y, elementwise.",
                                          not_differentiable, Saves::nothing(), /*is_commutative=*/true);
const OpDef logical_not_op =
    unary_record("LogicalNot(x: bool) -> (y: bool)", "Not x, elementwise.", not_differentiable, Saves::nothing());

Tensor equal(Operand x, Operand y) { return apply_binary(equal_op, x, y); }
Tensor not_equal(Operand x, Operand y) { return apply_binary(not_equal_op, x, y); }
Tensor less(Operand x, Operand y) { return apply_binary(less_op, x, y); }
Tensor less_equal(Operand x, Operand y) { return apply_binary(less_equal_op, x, y); }
Tensor greater(Operand x, Operand y) { return apply_binary(greater_op, x, y); }
Tensor greater_equal(Operand x, Operand y) { return apply_binary(greater_equal_op, x, y); }
Tensor logical_and(Operand x, Operand y) { return apply_binary(logical_and_op, x, y); }
Tensor logical_or(Operand x, Operand y) { return apply_binary(logical_or_op, x, y); }
Tensor logical_not(Tensor x) { return apply(logical_not_op, {std::move(x)}); }
Tensor logical_xor(Operand x, Operand y) {
  const Tensor a = x.tensor(), b = y.tensor();
  return (a || b) && !(a && b);
}

Tensor operator==(Operand x, Operand y) { return apply_binary(equal_op, x, y); }
Tensor operator!=(Operand x, Operand y) { return apply_binary(not_equal_op, x, y); }
Tensor operator<(Operand x, Operand y) { return apply_binary(less_op, x, y); }
Tensor operator<=(Operand x, Operand y) { return apply_binary(less_equal_op, x, y); }
Tensor operator>(Operand x, Operand y) { return apply_binary(greater_op, x, y); }
Tensor operator>=(Operand x, Operand y) { return apply_binary(greater_equal_op, x, y); }
Tensor operator&&(const Tensor& x, const Tensor& y) { return apply(logical_and_op, {x, y}); }
Tensor operator||(const Tensor& x, const Tensor& y) { return apply(logical_or_op, {x, y}); }
Tensor operator!(Tensor x) { return apply(logical_not_op, {std::move(x)}); }

OpList compare_ops() {
  static constexpr const OpDef* list[] = {&equal_op,       &not_equal_op,  &less_op,
                                          &less_equal_op,  &greater_op,    &greater_equal_op,
                                          &logical_and_op, &logical_or_op, &logical_not_op};
  return list;
}

}  // namespace capstan
