// The largest elements, and the loss that sums squares.
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/math.h"
#include "capstan/ops/nn.h"
#include "ops/nn.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// input [..., n], k: a scalar.
void top_k_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.require_rank_at_least(0, 1, "input");
  context.require_rank(1, 0, "k");
  std::int64_t k = Shape::kUnknown;
  if (context.input_value(1)) {
    k = context.integers(1)[0];
    if (k < 0) context.fail("'k' must not be negative, got " + std::to_string(k));
    const std::int64_t n = input.has_rank() ? input[input.rank() - 1] : Shape::kUnknown;
    if (n >= 0 && n < k)
      context.fail("'k' must be at most the size of the last dimension, got " + std::to_string(k) + " for shape " +
                   input.to_string());
  }
  Shape output = input;
  if (output.has_rank()) output.set_dim(output.rank() - 1, k);
  context.set_output(0, output);
  context.set_output(1, output);
}

/// Each row's gradients at the places that its elements came from.
Tensor scatter_rows(const OpCall& call, const Tensor& dy) {
  const Shape& input = call.input_shape(0);
  const std::int64_t n = input[input.rank() - 1], rows = n ? input.num_elements() / n : 0, k = dy.dim(-1);
  std::vector<std::int64_t> first(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<std::int64_t>(i) * n;
  const Tensor places = reshape(cast(call.output(1), DType::int64), Shape{rows, k}) + constant(first, Shape{rows, 1});
  const Tensor size = constant({input.num_elements()});
  return reshape(scatter_nd(reshape(places, Shape{rows * k, 1}), reshape(dy, Shape{rows * k}), size), input);
}

/// predictions [batch, classes], targets [batch], k: a scalar.
void in_top_k_shape(InferContext& context) {
  context.require_rank(0, 2, "predictions");
  context.require_rank(1, 1, "targets");
  context.require_rank(2, 0, "k");
  const Shape &predictions = context.input_shape(0), &targets = context.input_shape(1);
  const std::int64_t rows = predictions.has_rank() ? predictions[0] : Shape::kUnknown;
  const std::int64_t count = targets.has_rank() ? targets[0] : Shape::kUnknown;
  if (rows >= 0 && count >= 0 && rows != count)
    context.fail("there must be one target for each row, got predictions of shape " + predictions.to_string() +
                 " and targets of shape " + targets.to_string());
  context.set_output(0, Shape{rows < 0 ? count : rows});
}

}  // namespace

const OpDef top_k_v2_op{
    .signature =
        "TopKV2(input: T, k: Tk) -> (values: T, indices: index_type); T: real; Tk: {int16, int32, int64}; "
        "index_type: {int16, int32, int64}",
    .summary = "The k largest elements along the last dimension and where they stand.",
    .shape = top_k_shape,
    .gradient =
        [](const OpCall& call, std::span<const Gradient> dy) {
          return Gradients{dy[0].has_value() ? Gradient(scatter_rows(call, dy[0].tensor())) : Gradient(), Gradient()};
        },
    .attributes = attributes<TopKAttributes>,
    .saves = Saves::only({}, {1}),
};

const OpDef in_top_k_v2_op{
    .signature = "InTopKV2(predictions: float32, targets: T, k: T) -> (precision: bool); T: {int32, int64}",
    .summary = "Whether the target's prediction is among the k largest of its row.",
    .shape = in_top_k_shape,
    .gradient = not_differentiable,
};

const OpDef l2_loss_op{
    .signature = "L2Loss(t: T) -> (output: T); T: floating",
    .summary = "Half the sum of the squares.",
    .shape = shape::scalar,
    .gradient = [](const OpCall& call, Tensor dy) { return call.input(0) * std::move(dy); },
    .saves = Saves::all_inputs(),
};

Tensor l2_loss(Tensor x) { return apply(l2_loss_op, {std::move(x)}); }

TopK top_k(Tensor input, std::int64_t k, bool sorted) {
  const TopKAttributes attributes{sorted, DType::int32};
  auto parts = apply_all(top_k_v2_op, {std::move(input), constant(k)}, &attributes);
  return {std::move(parts[0]), std::move(parts[1])};
}

Tensor in_top_k(Tensor targets, Tensor predictions, std::int64_t k) {
  const Tensor count = constant(k, targets.dtype());
  return apply(in_top_k_v2_op, {std::move(predictions), std::move(targets), count});
}

}  // namespace capstan
