// Softmax, and the cross entropies that are computed with it.
#include <numeric>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/nn.h"
#include "ops/nn.h"
#include "ops/records.h"

namespace capstan {
namespace {

void softmax_shape(InferContext& context) {
  context.require_rank_at_least(0, 1, "logits");
  context.set_output(0, context.input_shape(0));
}

Tensor sum_of_rows(Tensor x) { return reduce_sum(std::move(x), {.axis = -1, .keepdims = true}); }

std::vector<Tensor> same_op(const OpCall& call, std::span<const bool>) {
  std::vector<InputRef> refs;
  for (std::size_t i = 0; i < call.input_count(); ++i) refs.push_back(call.input(i));
  return apply_all(call.op(), refs, call.raw_attributes());
}

void require_classes(const InferContext& context, const Shape& shape) {
  if (shape.rank() == 2 && shape[1] == 0 && shape[0] != 0)
    context.fail("there must be at least one class, got features of shape " + shape.to_string());
}

/// Features and labels are matrices that broadcast against each other.
void cross_entropy_shape(InferContext& context) {
  Shape rows = shape::broadcast_shapes(context, context.input_shape(0), context.input_shape(1));
  if (rows.has_rank() && rows.rank() != 2)
    context.fail("'features' and 'labels' must be matrices, got shapes " + context.input_shape(0).to_string() +
                 " and " + context.input_shape(1).to_string());
  for (std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (context.input_shape(i).has_rank() && context.input_shape(i).rank() != 2 &&
        context.input_shape(1 - i).has_rank())
      context.fail("'features' and 'labels' must be matrices, got shapes " + context.input_shape(0).to_string() +
                   " and " + context.input_shape(1).to_string());
  if (!rows.has_rank()) rows = Shape::unknown_dims(2);
  require_classes(context, rows);
  context.set_output(0, Shape{rows[0]});
  context.set_output(1, rows);
}

/// features [batch, classes], labels [batch].
void sparse_cross_entropy_shape(InferContext& context) {
  context.require_rank(0, 2, "features");
  context.require_rank(1, 1, "labels");
  Shape rows = context.input_shape(0).has_rank() ? context.input_shape(0) : Shape::unknown_dims(2);
  const Shape& labels = context.input_shape(1);
  if (labels.has_rank()) {
    if (rows[0] >= 0 && labels[0] >= 0 && rows[0] != labels[0])
      context.fail("there must be one label for each row, got features of shape " + rows.to_string() +
                   " and labels of shape " + labels.to_string());
    if (rows[0] < 0) rows.set_dim(0, labels[0]);
  }
  require_classes(context, rows);
  context.set_output(0, Shape{rows[0]});
  context.set_output(1, rows);
}

/// One number per row as a column.
Tensor as_column(const Tensor& per_row) { return reshape(per_row, Shape{-1, 1}); }

/// The gradient with respect to the features from those of the loss and of `backprop`, the op's second output, which
/// carries second derivatives: its own derivative is that of the softmax.
Gradient features_gradient(const OpCall& call, std::span<const Gradient> dy) {
  Gradient result;
  Tensor total;
  if (dy[0].has_value()) total = as_column(dy[0].tensor()) * call.output(1);
  if (dy[1].has_value()) {
    const Tensor probabilities = softmax(call.input(0)), grad = dy[1].tensor();
    const Tensor through = (grad - sum_of_rows(grad * probabilities)) * probabilities;
    total = total.is_defined() ? total + through : through;
  }
  return total.is_defined() ? Gradient(total) : Gradient();
}

Gradient labels_gradient(const OpCall& call, std::span<const Gradient> dy) {
  Tensor total;
  if (dy[0].has_value()) total = as_column(dy[0].tensor()) * negative(log_softmax(call.input(0)));
  if (dy[1].has_value()) {  // backprop is softmax - labels
    const Tensor through = negative(dy[1].tensor());
    total = total.is_defined() ? total + through : through;
  }
  return total.is_defined() ? Gradient(total) : Gradient();
}

Gradient unbroadcast_gradient(const OpCall& call, std::size_t i, const Gradient& gradient) {
  return gradient.has_value() ? Gradient(unbroadcast(call, i, gradient.tensor())) : gradient;
}

}  // namespace

const OpDef softmax_op{
    .signature = "Softmax(logits: T) -> (softmax: T); T: floating",
    .summary = "exp(x) / sum(exp(x)) along the last dimension.",
    .shape = softmax_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          const Tensor& y = call.output(0);
          return (dy - sum_of_rows(dy * y)) * y;
        },
    .batching = same_op,
    .saves = Saves::all_outputs(),
};

const OpDef log_softmax_op{
    .signature = "LogSoftmax(logits: T) -> (logsoftmax: T); T: floating",
    .summary = "x - log(sum(exp(x))) along the last dimension.",
    .shape = softmax_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return dy - sum_of_rows(dy) * exp(call.output(0)); },
    .batching = same_op,
    .saves = Saves::all_outputs(),
};

const OpDef softmax_cross_entropy_op{
    .signature = "SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> (loss: T, backprop: T); T: floating",
    .summary = "Cross entropy of softmax(features) with distributions, and its gradient.",
    .shape = cross_entropy_shape,
    .gradient =
        [](const OpCall& call, std::span<const Gradient> dy) {
          Gradients gradients(2);
          if (call.needs_gradient(0)) gradients[0] = unbroadcast_gradient(call, 0, features_gradient(call, dy));
          if (call.needs_gradient(1)) gradients[1] = unbroadcast_gradient(call, 1, labels_gradient(call, dy));
          return gradients;
        },
    .saves = Saves::only({0}, {1}),
    .facts = {.gradient_may_be_absent = 2},
};

const OpDef sparse_softmax_cross_entropy_op{
    .signature =
        "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> (loss: T, backprop: T); "
        "T: floating; Tlabels: {int32, int64}",
    .summary = "Cross entropy of softmax(features) with the numbers of the right classes, and its gradient.",
    .shape = sparse_cross_entropy_shape,
    .gradient =
        [](const OpCall& call, std::span<const Gradient> dy) {
          return Gradients{features_gradient(call, dy), Gradient()};
        },
    .saves = Saves::only({0}, {1}),
    .facts = {.gradient_may_be_absent = 2},
};

namespace {

Tensor along_axis(const OpDef& op, const char* name, Tensor x, std::int64_t axis) {
  const int rank = x.rank();
  if (rank < 1) throw InvalidArgument(std::string(name) + ": needs at least one dimension, got a scalar");
  if (axis < -rank || axis >= rank)
    throw InvalidArgument(std::string(name) + ": 'axis' must be in [" + std::to_string(-rank) + ", " +
                          std::to_string(rank) + "), got " + std::to_string(axis));
  if (axis < 0) axis += rank;
  if (axis == rank - 1) return apply(op, {std::move(x)});
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::swap(order[static_cast<std::size_t>(axis)], order.back());  // the way back is the same
  return transpose(apply(op, {transpose(std::move(x), order)}), order);
}

/// All dimensions but the last as one.
Tensor as_rows(const Tensor& x) { return x.rank() == 2 ? x : reshape(x, Shape{-1, x.dim(-1)}); }

Shape without_last(Shape shape) {
  shape.erase(shape.rank() - 1);
  return shape;
}

}  // namespace

Tensor softmax(Tensor logits) { return apply(softmax_op, {std::move(logits)}); }
Tensor softmax(Tensor logits, const SoftmaxOptions& options) {
  return along_axis(softmax_op, "softmax", std::move(logits), options.axis);
}
Tensor log_softmax(Tensor logits) { return apply(log_softmax_op, {std::move(logits)}); }
Tensor log_softmax(Tensor logits, const SoftmaxOptions& options) {
  return along_axis(log_softmax_op, "log_softmax", std::move(logits), options.axis);
}

Tensor softmax_cross_entropy(Tensor labels, Tensor logits) {
  if (logits.rank() < 1 || !labels.shape().is_compatible_with(logits.shape()))
    throw InvalidArgument("softmax_cross_entropy: labels and logits must have one shape [..., classes], got " +
                          labels.shape().to_string() + " and " + logits.shape().to_string());
  const Shape rows = without_last(logits.shape());
  Tensor loss = std::move(apply_all(softmax_cross_entropy_op, {as_rows(logits), as_rows(labels)})[0]);
  return rows.rank() == 1 ? loss : reshape(std::move(loss), rows);
}

Tensor sparse_softmax_cross_entropy(Tensor labels, Tensor logits) {
  if (logits.rank() < 1 || !labels.shape().is_compatible_with(without_last(logits.shape())))
    throw InvalidArgument(
        "sparse_softmax_cross_entropy: logits must have the labels' shape and a dimension of classes behind it, got "
        "labels " +
        labels.shape().to_string() + " and logits " + logits.shape().to_string());
  const Shape rows = without_last(logits.shape());
  const Tensor flat = labels.rank() == 1 ? labels : reshape(labels, Shape{-1});
  Tensor loss = std::move(apply_all(sparse_softmax_cross_entropy_op, {as_rows(logits), flat})[0]);
  return rows.rank() == 1 ? loss : reshape(std::move(loss), rows);
}

}  // namespace capstan
