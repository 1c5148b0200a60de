// Running sums and products.
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "ops/records.h"
#include "ops/reduce.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// x, axis.
void scan_shape(InferContext& context) {
  context.require_rank_at_least(0, 1, "x");
  shape::axis_input(context, 1, context.input_shape(0).rank(), "axis");
  context.set_output(0, context.input_shape(0));
}

Tensor scanned(const OpDef& op, const Tensor& x, const Tensor& axis, ScanAttributes how) {
  return apply(op, {x, axis}, &how);
}

/// x moved by `by` places towards the front along an axis of `size`; zeros come in at the end.
Tensor pulled(const Tensor& x, int axis, std::int64_t size, std::int64_t by) {
  std::vector<std::int64_t> begin(static_cast<std::size_t>(x.rank())), length(begin.size(), -1);
  begin[static_cast<std::size_t>(axis)] = std::min(by, size);
  std::vector<std::int64_t> paddings(2 * begin.size());
  paddings[2 * static_cast<std::size_t>(axis) + 1] = std::min(by, size);
  return pad(slice(x, begin, length), constant(paddings, Shape{x.rank(), 2}));
}

/// With y[i] = x[0] ... x[i] the gradient is dx[k] = L[k] s[k], where L[k] is the product of those before k and
/// s[k] = dy[k] + x[k+1] s[k+1]. The recurrence is solved by doubling, in log2(n) steps. Dividing sum(y dy) by x, as
/// TensorFlow does, would give 0 for the gradient of a factor that is 0.
Tensor cumprod_gradient(const OpCall& call, Tensor dy) {
  const auto how = call.attributes<ScanAttributes>();
  Tensor x = call.input(0);
  const std::int64_t given = integers_of(call.input(1))[0];
  const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
  const std::int64_t size = x.rank() < 0 ? Shape::kUnknown : x.shape()[axis];
  if (size < 0)
    throw Unimplemented("Cumprod: gradient along an axis of unknown size in shape " + x.shape().to_string());
  if (how.reverse) x = reverse(x, {axis}), dy = reverse(dy, {axis});
  const Tensor before = conj(cumprod(x, axis, {.exclusive = true}));
  Tensor factor = pulled(conj(x), axis, size, 1);
  Tensor sum = how.exclusive ? pulled(dy, axis, size, 1) : dy;
  for (std::int64_t step = 1; step < size; step *= 2) {
    sum = sum + factor * pulled(sum, axis, size, step);
    if (2 * step < size) factor = factor * pulled(factor, axis, size, step);
  }
  const Tensor dx = before * sum;
  return how.reverse ? reverse(dx, {axis}) : dx;
}

std::vector<Tensor> scan_batching(const OpCall& call, std::span<const bool>) {
  return apply_all(call.op(), {call.input(0), batching::axes_behind_batch(call.input(1))}, call.raw_attributes());
}

}  // namespace

const OpDef cumsum_op{
    .signature = "Cumsum(x: T, axis: Tidx) -> (out: T); T: number; Tidx: {int32, int64}",
    .summary = "Sum of the elements up to each one along an axis.",
    .shape = scan_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          ScanAttributes back = call.attributes<ScanAttributes>();
          back.reverse = !back.reverse;
          return scanned(cumsum_op, dy, call.input(1), back);
        },
    .batching = scan_batching,
    .forward = forward::linear({0}),
    .attributes = attributes<ScanAttributes>,
    .saves = Saves::only({1}),
};

const OpDef cumprod_op{
    .signature = "Cumprod(x: T, axis: Tidx) -> (out: T); T: number; Tidx: {int32, int64}",
    .summary = "Product of the elements up to each one along an axis.",
    .shape = scan_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return cumprod_gradient(call, std::move(dy)); },
    .batching = scan_batching,
    .attributes = attributes<ScanAttributes>,
    .saves = Saves::all_inputs(),
};

Tensor cumsum(Tensor x, std::int64_t axis, const ScanOptions& options) {
  return scanned(cumsum_op, x, axis_tensor(axis), {options.exclusive, options.reverse});
}
Tensor cumprod(Tensor x, std::int64_t axis, const ScanOptions& options) {
  return scanned(cumprod_op, x, axis_tensor(axis), {options.exclusive, options.reverse});
}

OpList scan_ops() {
  static constexpr const OpDef* list[] = {&cumsum_op, &cumprod_op};
  return list;
}

}  // namespace capstan
