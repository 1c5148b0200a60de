#include "ops/records.h"

#include <algorithm>
#include <utility>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/reduce.h"
#include "ops/broadcast_args.h"
#include "ops/reduce.h"
#include "tensor/integers.h"

namespace capstan {

namespace {

/// The same where only a run tells which axes were broadcast.
Tensor unbroadcast_later(const OpCall& call, std::size_t i, const Tensor& dy) {
  const Tensor to = shape_of_input(call, i);
  const Tensor axes = apply_all(broadcast_gradient_args_op, {to, shape_of(dy)})[0];
  const ReduceAttributes attributes{false};
  return reshape(apply(sum_op, {dy, axes}, &attributes), to);
}

}  // namespace

Tensor unbroadcast(const OpCall& call, std::size_t i, Tensor dy) {
  const Shape& from = dy.shape();
  const Shape& to = call.input_shape(i);
  if (from == to && dy.size() >= 0) return dy;  // equal in part is not equal: one may turn out to be 1
  if (!from.is_fully_known() || !to.is_fully_known()) return unbroadcast_later(call, i, dy);
  const int added = from.rank() - to.rank();
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < from.rank(); ++axis)
    if (axis < added || (to[axis - added] == 1 && from[axis] != 1)) axes.push_back(axis);
  return reshape(reduce_sum(std::move(dy), {.axis = std::move(axes)}), to);
}

Tensor shape_tensor(const Shape& shape, DType dtype) {
  const Tensor smallest = shape_tensor(shape);
  return smallest.dtype() == DType::int32 && dtype == DType::int64 ? constant(shape.dims(), Shape{shape.rank()})
                                                                   : smallest;
}

Tensor shape_of_input(const OpCall& call, std::size_t i, DType dtype) {
  const Shape& shape = call.input_shape(i);
  if (shape.is_fully_known()) return shape_tensor(shape, dtype);
  if (const Tensor* source = call.shape_source(i)) return shape_of(*source, dtype);
  throw Unimplemented(std::string(call.op().name()) + ": its gradient needs the shape of input " + std::to_string(i) +
                      ", which is known only as " + shape.to_string());
}

Tensor axes_tensor(std::span<const std::int64_t> axes) {
  const auto is_small = [](std::int64_t axis) { return std::in_range<std::int32_t>(axis); };
  if (!std::ranges::all_of(axes, is_small)) return constant(axes, Shape{static_cast<std::int64_t>(axes.size())});
  return constant(std::vector<std::int32_t>(axes.begin(), axes.end()));
}

Tensor axis_tensor(std::int64_t axis) {
  return std::in_range<std::int32_t>(axis) ? constant(static_cast<std::int32_t>(axis)) : constant(axis);
}

Tensor apply_binary(const OpDef& op, Operand& x, Operand& y) {
  if (x.is_number())
    x.match(y);
  else if (y.is_number())
    y.match(x);
  return apply(op, {x.input(), y.input()});
}

namespace batching {
namespace {

Tensor with_rank_behind_batch(const Tensor& x, int rank) {
  Shape shape = x.shape();
  while (shape.rank() < rank + 1) shape.insert(1, 1);
  return reshape(x, shape);
}

}  // namespace

std::vector<Tensor> elementwise(const OpCall& call, std::span<const bool> is_batched) {
  int rank = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i)
    rank = std::max(rank, call.input(i).rank() - (is_batched[i] ? 1 : 0));
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < call.input_count(); ++i)
    inputs.push_back(is_batched[i] ? with_rank_behind_batch(call.input(i), rank) : call.input(i));
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return apply_all(call.op(), refs, call.raw_attributes());
}

std::vector<Tensor> with_batch(const OpCall& call, std::span<const bool> is_batched, std::size_t count) {
  std::int64_t batch = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i)
    if (is_batched[i]) batch = call.input(i).dim(0);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < std::min(count, call.input_count()); ++i) {
    Shape repeated = call.input(i).shape();
    if (!is_batched[i]) repeated.insert(0, batch);
    inputs.push_back(is_batched[i] ? call.input(i) : broadcast_to(call.input(i), repeated));
  }
  return inputs;
}

Tensor axes_behind_batch(const Tensor& axes) {
  std::vector<std::int64_t> moved = integers_of(axes);
  for (std::int64_t& axis : moved) axis = axis_behind_batch(axis);
  return constant_as(constant(moved, axes.shape()), axes.dtype());
}

std::vector<Tensor> same_shape(const OpCall& call, std::span<const bool> is_batched) {
  std::vector<Tensor> inputs = with_batch(call, is_batched);
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return apply_all(call.op(), refs, call.raw_attributes());
}

}  // namespace batching

namespace shape {

void set_output(InferContext& context, std::size_t i, std::span<const std::int64_t> dims) {
  if (dims.size() > Shape::kMaxRank)
    context.fail("the result would have " + std::to_string(dims.size()) + " dimensions; at most " +
                 std::to_string(Shape::kMaxRank) + " are possible");
  Shape result(dims);
  try {
    result.num_elements();
  } catch (const InvalidArgument&) {
    context.fail("the result would have shape " + result.to_string() + ", whose elements 64 bits cannot count");
  }
  context.set_output(i, std::move(result));
}

std::optional<int> axis_input(const InferContext& context, std::size_t i, int rank, std::string_view argument) {
  context.require_rank(i, 0, argument);
  if (!context.input_value(i) || rank < 0) return std::nullopt;
  return context.normalize_axis(context.integers(i)[0], rank, argument);
}

void all_same(InferContext& context) {
  Shape merged = context.input_shape(0);
  for (std::size_t i = 1; i < context.input_count(); ++i)
    merged = context.merge(merged, context.input_shape(i), "the shapes of all inputs");
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, merged);
}

}  // namespace shape
}  // namespace capstan
