// Records of tensor lists. The gradient of a list is a list of the gradients of its elements.
#include "ops/tensor_list.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/records.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

/// Input `i`, the shape of an element: a vector with -1 for unknown sizes, or the scalar -1 for an unknown rank.
Shape element_shape_input(const InferContext& context, std::size_t i) {
  const Shape& given = context.input_shape(i);
  if (given.has_rank() && given.rank() > 1)
    context.fail("'element_shape' must be a scalar or a vector, got shape " + given.to_string());
  if (!given.has_rank()) return Shape::unknown();
  if (given.rank() == 1) return context.shape_from_input(i, /*allow_unknown=*/true);
  if (context.input_value(i) && context.integers(i)[0] != -1)
    context.fail("a scalar 'element_shape' must be -1, got " + std::to_string(context.integers(i)[0]));
  return Shape::unknown();
}

void new_list_shape(InferContext& context) {
  element_shape_input(context, 0);
  context.require_rank(1, 0, &context.op() == &empty_tensor_list_op ? "max_num_elements" : "num_elements");
  context.set_output(0, Shape{});
}

void changed_list_shape(InferContext& context) { context.set_output(0, Shape{}); }

void pop_shape(InferContext& context) {
  context.set_output(0, Shape{});
  context.set_output(1, element_shape_input(context, 1));
}

void item_shape(InferContext& context) {
  context.require_rank(1, 0, "index");
  context.set_output(0, element_shape_input(context, 2));
}

void set_item_shape(InferContext& context) {
  context.require_rank(1, 0, "index");
  context.set_output(0, Shape{});
}

void stack_shape(InferContext& context) {
  Shape shape = element_shape_input(context, 1);
  if (!shape.has_rank()) return context.set_output(0, Shape::unknown());
  shape.insert(0, std::max<std::int64_t>(-1, context.attributes<ListStackAttributes>().num_elements));
  context.set_output(0, shape);
}

void from_tensor_shape(InferContext& context) {
  context.require_rank_at_least(0, 1, "tensor");
  Shape element = context.input_shape(0);
  if (element.has_rank()) {
    element.erase(0);
    context.merge(element, element_shape_input(context, 1), "the elements' shape and 'element_shape'");
  }
  context.set_output(0, Shape{});
}

void element_shape_shape(InferContext& context) { context.set_output(0, Shape::unknown()); }

Tensor minus_one() { return constant(-1); }

Tensor shape_argument(const OpCall& call, std::size_t i) {
  const Shape& shape = call.input_shape(i);
  if (shape.is_fully_known()) return shape_tensor(shape, DType::int32);
  if (const Tensor* source = call.shape_source(i)) return shape_of(*source);
  return minus_one();
}

Tensor pushed(const Tensor& list, const Tensor& value) { return apply(tensor_list_push_back_op, {list, value}); }

Tensor item(const Tensor& list, const Tensor& index, const Tensor& shape, DType dtype) {
  const ListAttributes attributes{dtype};
  return apply(tensor_list_get_item_op, {list, index, shape}, &attributes);
}

Tensor with_item(const Tensor& list, const Tensor& index, const Tensor& value) {
  return apply(tensor_list_set_item_op, {list, index, value});
}

Gradients push_gradient(const OpCall& call, const Tensor& dlist) {
  const ListAttributes attributes{call.input_dtype(1)};
  auto made = apply_all(tensor_list_pop_back_op, {dlist, shape_argument(call, 1)}, &attributes);
  return {made[0], is_trainable(call.input_dtype(1)) ? Gradient(made[1]) : Gradient()};
}

Gradients pop_gradient(const OpCall& call, std::span<const Gradient> dy) {
  const DType dtype = call.attributes<ListAttributes>().element_dtype;
  if (!is_trainable(dtype)) return {Gradient(), Gradient()};
  const Tensor item_gradient = dy[1].has_value() ? dy[1].tensor() : zeros_like(call.output(1));
  const Tensor rest = dy[0].has_value() ? dy[0].tensor() : zeros_like(call.output(0));
  return {pushed(rest, item_gradient), Gradient()};
}

Gradients get_item_gradient(const OpCall& call, const Tensor& ditem) {
  Gradients gradients(3);
  if (is_trainable(call.attributes<ListAttributes>().element_dtype))
    gradients[0] = with_item(zeros_like(call.input(0)), call.input(1), ditem);
  return gradients;
}

Gradients set_item_gradient(const OpCall& call, const Tensor& dlist) {
  Gradients gradients(3);
  const DType dtype = call.input_dtype(2);
  if (!is_trainable(dtype)) return gradients;
  const Tensor shape = shape_argument(call, 2);
  if (call.needs_gradient(0)) gradients[0] = with_item(dlist, call.input(1), zeros_like(call.input(2)));
  gradients[2] = item(dlist, call.input(1), shape, dtype);
  return gradients;
}

Gradients stack_gradient(const OpCall&, const Tensor& dy) {
  return {apply(tensor_list_from_tensor_op, {dy, minus_one()}), Gradient()};
}

Gradients from_tensor_gradient(const OpCall& call, const Tensor& dlist) {
  Shape element = call.input_shape(0);
  const DType dtype = call.input_dtype(0);
  if (!is_trainable(dtype)) return {Gradient(), Gradient()};
  const ListStackAttributes attributes{dtype, element.has_rank() ? element[0] : -1};
  if (element.has_rank()) element.erase(0);
  const Tensor shape = element.is_fully_known() ? shape_tensor(element, DType::int32) : minus_one();
  return {apply(tensor_list_stack_op, {dlist, shape}, &attributes), Gradient()};
}

}  // namespace

const OpDef empty_tensor_list_op{
    .signature =
        "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> (handle: variant); "
        "shape_type: {int32, int64}; element_dtype: any",
    .summary = "A list without tensors.",
    .shape = new_list_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ListAttributes>,
    .saves = Saves::nothing(),
};

const OpDef tensor_list_reserve_op{
    .signature =
        "TensorListReserve(element_shape: shape_type, num_elements: int32) -> (handle: variant); "
        "shape_type: {int32, int64}; element_dtype: any",
    .summary = "A list of tensors that were not set yet.",
    .shape = new_list_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ListAttributes>,
    .saves = Saves::nothing(),
};

const OpDef tensor_list_push_back_op{
    .signature =
        "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> (output_handle: variant); "
        "element_dtype: any",
    .summary = "The list with one more tensor at its end.",
    .shape = changed_list_shape,
    .gradient = [](const OpCall& call, Tensor dlist) { return push_gradient(call, dlist); },
    .forward = forward::linear({0, 1}),
    .saves = Saves::nothing(),
};

const OpDef tensor_list_pop_back_op{
    .signature =
        "TensorListPopBack(input_handle: variant, element_shape: int32) -> (output_handle: variant, tensor: "
        "element_dtype); element_dtype: any",
    .summary = "The list without its last tensor, and that one.",
    .shape = pop_shape,
    .gradient = [](const OpCall& call, std::span<const Gradient> dy) { return pop_gradient(call, dy); },
    .forward = forward::linear({0}),
    .attributes = attributes<ListAttributes>,
    .saves = Saves::all_outputs(),
    .facts = {.gradient_may_be_absent = 3},
};

const OpDef tensor_list_length_op{
    .signature = "TensorListLength(input_handle: variant) -> (length: int32)",
    .summary = "The number of tensors in a list.",
    .shape = shape::scalar,
    .gradient = not_differentiable,
};

const OpDef tensor_list_element_shape_op{
    .signature =
        "TensorListElementShape(input_handle: variant) -> (element_shape: shape_type); shape_type: {int32, "
        "int64}",
    .summary =
        "The shape of a list's tensors as far as it is known: -1 for unknown sizes, a scalar -1 for an unknown "
        "rank.",
    .shape = element_shape_shape,
    .gradient = not_differentiable,
    .attributes = attributes<ListShapeTypeAttributes>,
};

const OpDef tensor_list_get_item_op{
    .signature =
        "TensorListGetItem(input_handle: variant, index: int32, element_shape: int32) -> (item: "
        "element_dtype); element_dtype: any",
    .summary = "One tensor of a list; zeros if it was never set and its shape is known.",
    .shape = item_shape,
    .gradient = [](const OpCall& call, Tensor ditem) { return get_item_gradient(call, ditem); },
    .forward = forward::linear({0}),
    .attributes = attributes<ListAttributes>,
    .saves = Saves::only({0, 1}),
};

const OpDef tensor_list_set_item_op{
    .signature =
        "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> (output_handle: "
        "variant); element_dtype: any",
    .summary = "The list with another tensor in one place.",
    .shape = set_item_shape,
    .gradient = [](const OpCall& call, Tensor dlist) { return set_item_gradient(call, dlist); },
    .forward = forward::linear({0, 2}),
    .attributes = attributes<ListSetAttributes>,
    .saves = Saves::only({1, 2}),
};

const OpDef tensor_list_stack_op{
    .signature =
        "TensorListStack(input_handle: variant, element_shape: int32) -> (tensor: element_dtype); "
        "element_dtype: any",
    .summary = "The tensors of a list, joined along a new first axis.",
    .shape = stack_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return stack_gradient(call, dy); },
    .forward = forward::linear({0}),
    .attributes = attributes<ListStackAttributes>,
    .saves = Saves::nothing(),
};

const OpDef tensor_list_from_tensor_op{
    .signature =
        "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> (output_handle: variant); "
        "element_dtype: any; shape_type: {int32, int64}",
    .summary = "A list of the parts of a tensor along its first axis.",
    .shape = from_tensor_shape,
    .gradient = [](const OpCall& call, Tensor dlist) { return from_tensor_gradient(call, dlist); },
    .forward = forward::linear({0}),
    .saves = Saves::nothing(),
};

OpList tensor_list_ops() {
  static const OpDef* const ops[] = {
      &empty_tensor_list_op,  &tensor_list_reserve_op,       &tensor_list_push_back_op, &tensor_list_pop_back_op,
      &tensor_list_length_op, &tensor_list_element_shape_op, &tensor_list_get_item_op,  &tensor_list_set_item_op,
      &tensor_list_stack_op,  &tensor_list_from_tensor_op};
  return ops;
}

}  // namespace capstan
