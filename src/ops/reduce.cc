// Reductions over some axes of a tensor.
#include "capstan/ops/reduce.h"

#include <algorithm>

#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "ops/records.h"
#include "ops/reduce.h"

namespace capstan {
namespace {

/// input [d0, d1, ...], reduction_indices: scalar or vector of axes.
void reduce_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  const bool keep = context.attributes<ReduceAttributes>().keep_dims;
  if (context.input_shape(1).rank() > 1)
    context.fail("'reduction_indices' must be a scalar or a vector, got shape " + context.input_shape(1).to_string());
  if (!input.has_rank()) return context.set_output(0, Shape::unknown());
  if (!context.input_value(1))
    return context.set_output(0, keep ? Shape::unknown_dims(input.rank()) : Shape::unknown());
  std::vector<bool> is_reduced(static_cast<std::size_t>(input.rank()));
  for (std::int64_t axis : context.integers(1)) {
    auto&& reduced = is_reduced[static_cast<std::size_t>(context.normalize_axis(axis, input.rank(), "reduction_indices"))];
    if (reduced) context.fail("'reduction_indices' names axis " + std::to_string(axis) + " twice");
    reduced = true;
  }
  Shape output;
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (!is_reduced[static_cast<std::size_t>(axis)]) output.push_back(input[axis]);
    else if (keep) output.push_back(1);
  }
  context.set_output(0, output);
}

/// The input's shape with the reduced axes set to 1.
Shape kept_shape(const OpCall& call) {
  Shape kept = call.input_shape(0);
  const Tensor& axes = call.input(1);
  for (std::int64_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes.dtype() == DType::int32 ? axes.values<std::int32_t>()[static_cast<std::size_t>(i)]
                                                           : axes.values<std::int64_t>()[static_cast<std::size_t>(i)];
    kept.set_dim(static_cast<int>(axis), 1);
  }
  return kept;
}

/// dy spread over the axes that were reduced.
Tensor spread(const OpCall& call, const Tensor& dy) {
  return broadcast_to(reshape(dy, kept_shape(call)), call.input_shape(0));
}

Tensor axes_tensor(const Tensor& x, const Axes& axes) {
  if (!axes.is_all()) {
    std::vector<std::int32_t> list(axes.list().begin(), axes.list().end());
    return constant(list);
  }
  std::vector<std::int32_t> all(static_cast<std::size_t>(std::max(0, x.rank())));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  return constant(all);
}

Tensor reduce(const OpDef& op, Tensor x, const ReduceOptions& options) {
  const ReduceAttributes attributes{options.keepdims};
  Tensor axes = axes_tensor(x, options.axis);
  return apply(op, {std::move(x), axes}, &attributes);
}

}  // namespace

const OpDef sum_op{
    .signature = "Sum(input: T, reduction_indices: Tidx) -> (output: T); T: number; Tidx: {int32, int64}",
    .summary = "Sum over some axes.",
    .shape = reduce_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return spread(call, dy); },
    .attributes = attributes<ReduceAttributes>,
    .saves = Saves::only({1}),
};

const OpDef mean_op{
    .signature = "Mean(input: T, reduction_indices: Tidx) -> (output: T); T: number; Tidx: {int32, int64}",
    .summary = "Arithmetic mean over some axes.",
    .shape = reduce_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          const double share = static_cast<double>(std::max<std::int64_t>(dy.size(), 1)) /
                               static_cast<double>(std::max<std::int64_t>(call.input_shape(0).num_elements(), 1));
          return spread(call, dy * constant_as(constant(share), dy.dtype()));
        },
    .attributes = attributes<ReduceAttributes>,
    .saves = Saves::only({1}),
};

Tensor reduce_sum(Tensor x, const ReduceOptions& options) { return reduce(sum_op, std::move(x), options); }
Tensor reduce_mean(Tensor x, const ReduceOptions& options) { return reduce(mean_op, std::move(x), options); }

OpList reduce_ops() {
  static constexpr const OpDef* list[] = {&sum_op, &mean_op};
  return list;
}

}  // namespace capstan
