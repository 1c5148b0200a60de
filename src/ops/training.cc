// The optimizers' updates, as operations on variables. Formulas: docs/optimizers.md.
#include "ops/training.h"

#include "ops/records.h"
#include "tensor/handle.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

std::string name_of(const InferContext& context, std::size_t i) { return resource_of(context.input(i))->name(); }

void require_scalar(const InferContext& context, std::size_t i, const char* argument) {
  const Shape& shape = context.input_shape(i);
  if (shape.has_rank() && !shape.is_scalar())
    context.fail("'" + std::string(argument) + "' must be a scalar, got shape " + shape.to_string());
}

/// The variable, its slots (inputs 1 to `slots`) and the gradient have one shape and type.
void check_update(const InferContext& context, std::size_t slots, std::size_t gradient) {
  if (!context.input_value(0)) return;
  const Resource* variable = resource_of(context.input(0));
  for (std::size_t i = 1; i <= slots; ++i) {
    const Resource* slot = resource_of(context.input(i));
    if (slot->value_dtype() != variable->value_dtype() ||
        !slot->value_shape().is_compatible_with(variable->value_shape()))
      context.fail("variable '" + name_of(context, 0) + "' of shape " + variable->value_shape().to_string() +
                   " and its slot '" + name_of(context, i) + "' of shape " + slot->value_shape().to_string() +
                   " must have one shape and type");
  }
  if (context.input_dtype(gradient) != variable->value_dtype())
    context.fail_type("variable '" + name_of(context, 0) + "' has type " +
                      std::string(dtype_name(variable->value_dtype())) + ", the gradient " +
                      std::string(dtype_name(context.input_dtype(gradient))));
}

void check_dense(const InferContext& context, std::size_t gradient) {
  const Tensor* handle = context.input_value(0);
  const Shape variable = handle ? resource_of(*handle)->value_shape() : Shape::unknown();
  if (!variable.is_compatible_with(context.input_shape(gradient)))
    context.fail("the gradient must have the variable's shape: '" + name_of(context, 0) + "' has " +
                 variable.to_string() + ", the gradient " + context.input_shape(gradient).to_string());
}

void gradient_descent_shape(InferContext& context) {
  require_scalar(context, 1, "alpha");
  check_update(context, 0, 2);
  check_dense(context, 2);
}

void momentum_shape(InferContext& context) {
  require_scalar(context, 2, "lr");
  require_scalar(context, 4, "momentum");
  check_update(context, 1, 3);
  check_dense(context, 3);
}

void sparse_momentum_shape(InferContext& context) {
  require_scalar(context, 2, "lr");
  require_scalar(context, 5, "momentum");
  check_update(context, 1, 3);
  context.require_rank(4, 1, "indices");
}

void adam_shape(InferContext& context) {
  static constexpr const char* names[] = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  for (std::size_t i = 0; i < 6; ++i) require_scalar(context, 3 + i, names[i]);
  check_update(context, 2, 9);
  check_dense(context, 9);
}

}  // namespace

const OpDef apply_gradient_descent_op{
    .signature = "ResourceApplyGradientDescent(var: resource, alpha: T, delta: T) -> (); T: number",
    .summary = "var -= alpha * delta.",
    .shape = gradient_descent_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ApplyAttributes>,
    .facts = {.stateful = true},
};

const OpDef apply_momentum_op{
    .signature = "ResourceApplyMomentum(var: resource, accum: resource, lr: T, grad: T, momentum: T) -> (); T: number",
    .summary = "accum = momentum * accum + grad; var -= lr * accum.",
    .shape = momentum_shape,
    .gradient = not_differentiable,
    .attributes = attributes<NesterovAttributes>,
    .facts = {.stateful = true},
};

const OpDef apply_keras_momentum_op{
    .signature =
        "ResourceApplyKerasMomentum(var: resource, accum: resource, lr: T, grad: T, momentum: T) -> (); T: number",
    .summary = "accum = momentum * accum - lr * grad; var += accum.",
    .shape = momentum_shape,
    .gradient = not_differentiable,
    .attributes = attributes<NesterovAttributes>,
    .facts = {.stateful = true},
};

const OpDef sparse_apply_keras_momentum_op{
    .signature =
        "ResourceSparseApplyKerasMomentum(var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: "
        "T) -> (); T: number; Tindices: {int32, int64}",
    .summary = "accum = momentum * accum - lr * grad; var += accum, for some rows.",
    .shape = sparse_momentum_shape,
    .gradient = not_differentiable,
    .attributes = attributes<NesterovAttributes>,
    .facts = {.stateful = true},
};

const OpDef apply_adam_op{
    .signature =
        "ResourceApplyAdam(var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, "
        "beta2: T, epsilon: T, grad: T) -> (); T: number",
    .summary =
        "Adam: m and v follow grad and its square; var -= lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / "
        "(sqrt(v) + epsilon).",
    .shape = adam_shape,
    .gradient = not_differentiable,
    .attributes = attributes<NesterovAttributes>,
    .facts = {.stateful = true},
};

OpList training_ops() {
  static constexpr const OpDef* list[] = {&apply_gradient_descent_op, &apply_momentum_op, &apply_keras_momentum_op,
                                          &sparse_apply_keras_momentum_op, &apply_adam_op};
  return list;
}

}  // namespace capstan
