// Reductions over some axes of a tensor.
#include "capstan/ops/reduce.h"

#include <algorithm>
#include <numeric>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/compare.h"
#include "capstan/ops/math.h"
#include "capstan/ops/select.h"
#include "ops/records.h"
#include "ops/reduce.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// input [d0, d1, ...], reduction_indices: scalar or vector of axes.
void reduce_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  const bool keep = context.attributes<ReduceAttributes>().keep_dims;
  if (!input.has_rank()) return context.set_output(0, Shape::unknown());
  if (!context.input_value(1))
    return context.set_output(0, keep || input.rank() == 0 ? Shape::unknown_dims(input.rank()) : Shape::unknown());
  std::vector<bool> is_reduced(static_cast<std::size_t>(input.rank()));
  for (std::int64_t axis : context.integers(1)) {
    auto&& reduced =
        is_reduced[static_cast<std::size_t>(context.normalize_axis(axis, input.rank(), "reduction_indices"))];
    if (reduced) context.fail("'reduction_indices' names axis " + std::to_string(axis) + " twice");
    reduced = true;
  }
  Shape output;
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (!is_reduced[static_cast<std::size_t>(axis)])
      output.push_back(input[axis]);
    else if (keep)
      output.push_back(1);
  }
  context.set_output(0, output);
}

/// The input's shape with the reduced axes set to 1.
Shape kept_shape(const OpCall& call) {
  Shape kept = call.input_shape(0);
  for (std::int64_t axis : integers_of(call.input(1))) kept.set_dim(static_cast<int>(axis), 1);
  return kept;
}

/// A reduced value with the reduced axes back, of size 1.
Tensor kept(const OpCall& call, const Tensor& value) {
  const Shape& shape = call.input_shape(0);
  if (shape.is_fully_known()) return reshape(value, kept_shape(call));
  if (!shape.has_rank()) throw Unimplemented(std::string(call.op().name()) + ": gradient for an input of unknown rank");
  std::vector<std::int32_t> is_reduced(static_cast<std::size_t>(shape.rank()));
  for (const std::int64_t axis : integers_of(call.input(1)))
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + shape.rank() : axis)] = 1;
  return reshape(value, where(cast(constant(is_reduced), DType::boolean), 1, shape_of_input(call, 0)));
}

/// dy spread over the axes that were reduced.
Tensor spread(const OpCall& call, const Tensor& dy) { return broadcast_to(kept(call, dy), shape_of_input(call, 0)); }

Tensor axes_of(const Tensor& x, const Axes& axes) {
  if (!axes.is_all()) return axes_tensor(axes.list());
  if (!x.shape().has_rank()) return range(constant(0), rank_of(x), constant(1));
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::max(0, x.rank())));
  std::iota(all.begin(), all.end(), 0);
  return axes_tensor(all);
}

Tensor reduce(const OpDef& op, Tensor x, const ReduceOptions& options) {
  const ReduceAttributes attributes{options.keepdims};
  Tensor axes = axes_of(x, options.axis);
  return apply(op, {std::move(x), axes}, &attributes);
}

/// One over the number of elements that go into one result.
Tensor share_of_each(const OpCall& call, const Tensor& dy) {
  const Shape& shape = call.input_shape(0);
  double count = 1;
  for (std::int64_t axis : integers_of(call.input(1))) {
    const std::int64_t size = shape.has_rank() ? shape.dim(static_cast<int>(axis)) : -1;
    if (size < 0) {  // known only in a run
      const Tensor all = reduce_prod(shape_of_input(call, 0, DType::int64)), results = size_of(dy, DType::int64);
      return cast(maximum(results, 1), dy.dtype()) / cast(maximum(all, 1), dy.dtype());
    }
    count *= static_cast<double>(size);
  }
  return constant_as(constant(1 / std::max(count, 1.0)), dy.dtype());
}

/// Each factor's gradient is the product of the others: that of those before it times that of those behind it, which
/// is right also where factors are 0.
Tensor prod_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& x = call.input(0);
  if (!x.shape().is_fully_known())
    throw Unimplemented("Prod: gradient for the partly known shape " + x.shape().to_string());
  const int rank = x.rank();
  std::vector<bool> is_reduced(static_cast<std::size_t>(rank));
  for (std::int64_t axis : integers_of(call.input(1)))
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
  std::vector<std::int64_t> perm, undo(is_reduced.size());
  Shape moved;
  std::int64_t factors = 1, others = 1;
  for (const bool wanted : {true, false})
    for (int i = 0; i < rank; ++i) {
      if (is_reduced[static_cast<std::size_t>(i)] != wanted) continue;
      undo[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(perm.size());
      perm.push_back(i);
      moved.push_back(x.shape()[i]);
      (wanted ? factors : others) *= x.shape()[i];
    }
  const Tensor columns = reshape(transpose(x, perm), Shape{factors, others});
  const Tensor before = cumprod(columns, 0, {.exclusive = true});
  const Tensor behind = cumprod(columns, 0, {.exclusive = true, .reverse = true});
  return spread(call, dy) * transpose(reshape(conj(before) * conj(behind), moved), undo);
}

/// The elements that are extreme share the gradient equally.
Tensor extreme_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor is_extreme = cast(equal(call.input(0), kept(call, call.output(0))), dy.dtype());
  const Tensor count = apply(sum_op, {is_extreme, call.input(1)}, call.raw_attributes());
  return is_extreme * kept(call, dy / count);
}

std::vector<Tensor> reduce_batching(const OpCall& call, std::span<const bool>) {
  return apply_all(call.op(), {call.input(0), batching::axes_behind_batch(call.input(1))}, call.raw_attributes());
}

/// input, dimension.
void arg_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank_at_least(0, 1, "input");
  const auto axis = shape::axis_input(context, 1, input.rank(), "dimension");
  if (!axis) {
    if (input.has_rank() && input.rank() <= 1) return context.set_output(0, Shape{});
    return context.set_output(0, input.has_rank() ? Shape::unknown_dims(input.rank() - 1) : Shape::unknown());
  }
  if (input[*axis] == 0)
    context.fail("there must be elements along dimension " + std::to_string(*axis) + ", got shape " +
                 input.to_string());
  Shape output = input;
  output.erase(*axis);
  context.set_output(0, output);
}

}  // namespace

const OpDef sum_op{
    .signature = "Sum(input: T, reduction_indices: Tidx) -> (output: T); T: number; Tidx: {int32, int64}",
    .summary = "Sum over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return spread(call, dy); },
    .batching = reduce_batching,
    .forward = forward::linear({0}),
    .attributes = attributes<ReduceAttributes>,
    .saves = Saves::only({1}),
};

const OpDef mean_op{
    .signature = "Mean(input: T, reduction_indices: Tidx) -> (output: T); T: number; Tidx: {int32, int64}",
    .summary = "Arithmetic mean over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return spread(call, dy * share_of_each(call, dy)); },
    .batching = reduce_batching,
    .forward = forward::linear({0}),
    .attributes = attributes<ReduceAttributes>,
    .saves = Saves::only({1}),
};

const OpDef prod_op{
    .signature = "Prod(input: T, reduction_indices: Tidx) -> (output: T); T: number; Tidx: {int32, int64}",
    .summary = "Product over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return prod_gradient(call, dy); },
    .batching = reduce_batching,
    .attributes = attributes<ReduceAttributes>,
    .saves = Saves::all_inputs(),
};

const OpDef max_op{
    .signature = "Max(input: T, reduction_indices: Tidx) -> (output: T); T: real; Tidx: {int32, int64}",
    .summary = "Largest element over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return extreme_gradient(call, dy); },
    .batching = reduce_batching,
    .attributes = attributes<ReduceAttributes>,
};

const OpDef min_op{
    .signature = "Min(input: T, reduction_indices: Tidx) -> (output: T); T: real; Tidx: {int32, int64}",
    .summary = "Smallest element over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return extreme_gradient(call, dy); },
    .batching = reduce_batching,
    .attributes = attributes<ReduceAttributes>,
};

const OpDef euclidean_norm_op{
    .signature = "EuclideanNorm(input: T, reduction_indices: Tidx) -> (output: T); T: number; Tidx: {int32, int64}",
    .summary = "Square root of the sum of squares over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call,
                   Tensor dy) { return call.input(0) / kept(call, call.output(0) / std::move(dy)); },
    .batching = reduce_batching,
    .attributes = attributes<ReduceAttributes>,
};

const OpDef all_op{
    .signature = "All(input: bool, reduction_indices: Tidx) -> (output: bool); Tidx: {int32, int64}",
    .summary = "Are all elements true, over some axes.",
    .shape = reduce_shape,
    .gradient = not_differentiable,
    .batching = reduce_batching,
    .attributes = attributes<ReduceAttributes>,
};

const OpDef any_op{
    .signature = "Any(input: bool, reduction_indices: Tidx) -> (output: bool); Tidx: {int32, int64}",
    .summary = "Is any element true, over some axes.",
    .shape = reduce_shape,
    .gradient = not_differentiable,
    .batching = reduce_batching,
    .attributes = attributes<ReduceAttributes>,
};

const OpDef arg_max_op{
    .signature =
        "ArgMax(input: T, dimension: Tidx) -> (output: output_type); T: number|bool; Tidx: {int32, int64}; "
        "output_type: {int16, uint16, int32, int64}",
    .summary = "Index of the largest element along an axis.",
    .shape = arg_shape,
    .gradient = not_differentiable,
    .batching = reduce_batching,
    .attributes = attributes<ArgAttributes>,
};

const OpDef arg_min_op{
    .signature =
        "ArgMin(input: T, dimension: Tidx) -> (output: output_type); T: number|bool; Tidx: {int32, int64}; "
        "output_type: {int32, int64}",
    .summary = "Index of the smallest element along an axis.",
    .shape = arg_shape,
    .gradient = not_differentiable,
    .batching = reduce_batching,
    .attributes = attributes<ArgAttributes>,
};

Tensor reduce_sum(Tensor x, const ReduceOptions& options) { return reduce(sum_op, std::move(x), options); }
Tensor reduce_mean(Tensor x, const ReduceOptions& options) { return reduce(mean_op, std::move(x), options); }
Tensor reduce_prod(Tensor x, const ReduceOptions& options) { return reduce(prod_op, std::move(x), options); }
Tensor reduce_max(Tensor x, const ReduceOptions& options) { return reduce(max_op, std::move(x), options); }
Tensor reduce_min(Tensor x, const ReduceOptions& options) { return reduce(min_op, std::move(x), options); }
Tensor reduce_all(Tensor x, const ReduceOptions& options) { return reduce(all_op, std::move(x), options); }
Tensor reduce_any(Tensor x, const ReduceOptions& options) { return reduce(any_op, std::move(x), options); }
Tensor reduce_euclidean_norm(Tensor x, const ReduceOptions& options) {
  return reduce(euclidean_norm_op, std::move(x), options);
}
Tensor argmax(Tensor x, std::int64_t axis, DType output_type) {
  const ArgAttributes attributes{output_type};
  return apply(arg_max_op, {std::move(x), axis_tensor(axis)}, &attributes);
}
Tensor argmin(Tensor x, std::int64_t axis, DType output_type) {
  const ArgAttributes attributes{output_type};
  return apply(arg_min_op, {std::move(x), axis_tensor(axis)}, &attributes);
}

OpList reduce_ops() {
  static constexpr const OpDef* list[] = {&sum_op, &mean_op, &prod_op,    &max_op,     &min_op,
                                          &all_op, &any_op,  &arg_max_op, &arg_min_op, &euclidean_norm_op};
  return list;
}

}  // namespace capstan
