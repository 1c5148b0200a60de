// Variables as operations on an explicit handle.
#include "ops/state.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/gather.h"
#include "ops/records.h"
#include "tensor/handle.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

/// The handle's declared value, where the handle is known.
TensorSpec declared(const InferContext& context) {
  const Tensor& handle = context.input(0);
  if (!handle.is_symbolic() && handle.size() != 1)
    context.fail("a handle must have exactly one element, got shape " + handle.shape().to_string());
  const Resource* resource = resource_of(handle);
  if (!resource) return {DType::invalid, Shape::unknown()};
  return {resource->value_dtype(), resource->value_shape()};
}

TensorSpec check_dtype(const InferContext& context, DType asked) {
  TensorSpec spec = declared(context);
  if (spec.dtype != DType::invalid && spec.dtype != asked)
    context.fail_type("wrong dtype for variable '" + resource_of(context.input(0))->name() + "': it holds " +
                      std::string(dtype_name(spec.dtype)) + ", expected " + std::string(dtype_name(spec.dtype)) +
                      ", got " + std::string(dtype_name(asked)));
  return spec;
}

void read_shape(InferContext& context) {
  context.set_output(0, check_dtype(context, context.attributes<VariableAttributes>().dtype).shape);
}

void assign_shape(InferContext& context) {
  const TensorSpec spec = check_dtype(context, context.input_dtype(1));
  if (!spec.shape.is_compatible_with(context.input_shape(1)))
    context.fail("cannot assign a value of shape " + context.input_shape(1).to_string() + " to variable '" +
                 resource_of(context.input(0))->name() + "' of shape " + spec.shape.to_string());
}

void update_shape(InferContext& context) {
  const TensorSpec spec = check_dtype(context, context.input_dtype(1));
  if (!spec.shape.is_compatible_with(context.input_shape(1)))
    context.fail("shapes must be equal: variable '" + resource_of(context.input(0))->name() + "' has " +
                 spec.shape.to_string() + ", the value " + context.input_shape(1).to_string());
}

void variable_shape_shape(InferContext& context) {
  const Shape shape = declared(context).shape;
  context.set_output(0, Shape{shape.has_rank() ? shape.rank() : Shape::kUnknown});
}

/// Leading dimensions that both have: where they contradict each other, rows would be taken from a wrong batch.
Shape batch_shape(const InferContext& context, const Shape& params, const Shape& indices, std::int64_t batch_dims) {
  Shape batch;
  for (int i = 0; i < batch_dims; ++i) {
    if (params[i] >= 0 && indices[i] >= 0 && params[i] != indices[i])
      context.fail("the first " + std::to_string(batch_dims) + " dimension(s) of 'resource' and 'indices' must agree " +
                   "(batch_dims), got shapes " + params.to_string() + " and " + indices.to_string());
    batch.push_back(params[i] >= 0 ? params[i] : indices[i]);
  }
  return batch;
}

/// params[:batch] + indices[batch:] + params[batch+1:].
void gather_shape(InferContext& context) {
  const auto& attributes = context.attributes<ResourceGatherAttributes>();
  const Shape params = check_dtype(context, attributes.dtype).shape;
  const Shape& indices = context.input_shape(1);
  const std::int64_t batch = attributes.batch_dims;
  if (params.has_rank() && params.rank() < 1)
    context.fail("'resource' must have at least 1 dimension, got shape " + params.to_string());
  if (batch < 0 || (indices.has_rank() && batch > indices.rank()) || (params.has_rank() && batch >= params.rank()))
    context.fail("'batch_dims' must be in the range [0, min(rank of indices, rank of resource - 1)], got " +
                 std::to_string(batch) + " for a resource of shape " + params.to_string() + " and indices of shape " +
                 indices.to_string());
  if (!params.has_rank() || !indices.has_rank()) return context.set_output(0, Shape::unknown());
  Shape output = batch_shape(context, params, indices, batch);
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) output.push_back(indices[i]);
  for (int i = static_cast<int>(batch) + 1; i < params.rank(); ++i) output.push_back(params[i]);
  context.set_output(0, output);
}

/// indices [n...], updates [n..., rest of the variable] or a scalar.
void scatter_shape(InferContext& context) {
  const Shape params = check_dtype(context, context.input_dtype(2)).shape;
  const Shape& indices = context.input_shape(1);
  const Shape& updates = context.input_shape(2);
  if (!params.has_rank() || !indices.has_rank() || !updates.has_rank() || updates.is_scalar()) return;
  if (params.rank() < 1) context.fail("'resource' must have at least 1 dimension, got shape " + params.to_string());
  Shape expected = indices;
  for (int i = 1; i < params.rank(); ++i) expected.push_back(params[i]);
  if (!expected.is_compatible_with(updates))
    context.fail("'updates' must have shape " + expected.to_string() + " (that of indices, then a row's), got " +
                 updates.to_string());
}

/// The shape of the variable: that of its value where the declared one is not known in full.
Tensor whole_shape(const Tensor& handle) {
  const Shape declared = resource_of(handle)->value_shape();
  if (declared.is_fully_known()) return shape_tensor(declared);
  const VariableShapeAttributes attributes{DType::int64};
  return apply(variable_shape_op, {handle}, &attributes);
}

/// dy as rows of the variable; dense where each batch has rows of its own.
Gradients gather_gradient(const OpCall& call, const Tensor& dy) {
  const Tensor& indices = call.input(1);
  if (const auto batch = static_cast<int>(call.attributes<ResourceGatherAttributes>().batch_dims); batch > 0) {
    const Tensor shape = whole_shape(call.input(0));
    if (shape.is_symbolic())
      throw Unimplemented("ResourceGather: gradient with batch_dims for a variable of partly known shape");
    return {dense_gather_gradient("ResourceGather", dy, Shape(integers_of(shape)), indices, batch, batch), Gradient()};
  }
  Shape rows{indices.size()};
  for (int i = indices.rank(); i < dy.rank(); ++i) rows.push_back(dy.shape()[i]);
  return {IndexedSlices{reshape(dy, rows), reshape(indices, Shape{-1}), whole_shape(call.input(0))}, Gradient()};
}

}  // namespace

const OpDef var_handle_op{
    .signature = "VarHandleOp() -> (resource: resource)",
    .summary = "A handle to a new variable without a value.",
    .shape = shape::scalar,
    .gradient = not_differentiable,
    .attributes = attributes<VarHandleAttributes>,
    .facts = {.stateful = true},
};

const OpDef var_is_initialized_op{
    .signature = "VarIsInitializedOp(resource: resource) -> (is_initialized: bool)",
    .summary = "Whether the variable has a value.",
    .shape = shape::scalar,
    .gradient = not_differentiable,
    .facts = {.stateful = true, .reads_only = true},
};

const OpDef read_variable_op{
    .signature = "ReadVariableOp(resource: resource) -> (value: dtype); dtype: any",
    .summary = "A snapshot of the variable's value.",
    .shape = read_shape,
    .gradient = [](const OpCall&, std::span<const Gradient> dy) { return dy[0]; },
    .forward = [](const OpCall&, std::span<const Tensor> tangents, std::span<Tensor> out) { out[0] = tangents[0]; },
    .attributes = attributes<VariableAttributes>,
    .saves = Saves::nothing(),
    .facts = {.stateful = true, .reads_only = true},
};

const OpDef assign_variable_op{
    .signature = "AssignVariableOp(resource: resource, value: dtype) -> (); dtype: any",
    .summary = "Gives the variable a value.",
    .shape = assign_shape,
    .gradient = not_differentiable,
    .attributes = attributes<AssignAttributes>,
    .facts = {.stateful = true},
};

const OpDef assign_add_variable_op{
    .signature = "AssignAddVariableOp(resource: resource, value: dtype) -> (); dtype: number",
    .summary = "Adds a value of the same shape to the variable.",
    .shape = update_shape,
    .gradient = not_differentiable,
    .attributes = attributes<VariableAttributes>,
    .facts = {.stateful = true},
};

const OpDef assign_sub_variable_op{
    .signature = "AssignSubVariableOp(resource: resource, value: dtype) -> (); dtype: number",
    .summary = "Subtracts a value of the same shape from the variable.",
    .shape = update_shape,
    .gradient = not_differentiable,
    .attributes = attributes<VariableAttributes>,
    .facts = {.stateful = true},
};

const OpDef variable_shape_op{
    .signature = "VariableShape(input: resource) -> (output: out_type); out_type: {int32, int64}",
    .summary = "The shape of the variable's value as a vector.",
    .shape = variable_shape_shape,
    .gradient = not_differentiable,
    .attributes = attributes<VariableShapeAttributes>,
    .facts = {.stateful = true, .reads_only = true},
};

const OpDef destroy_resource_op{
    .signature = "DestroyResourceOp(resource: resource) -> ()",
    .summary = "Drops the variable's value; it has none until the next assignment.",
    .shape = shape::none,
    .gradient = not_differentiable,
    .attributes = attributes<DestroyAttributes>,
    .facts = {.stateful = true},
};

const OpDef resource_gather_op{
    .signature =
        "ResourceGather(resource: resource, indices: Tindices) -> (output: dtype); dtype: any; Tindices: {int32, "
        "int64}",
    .summary = "Rows of the variable.",
    .shape = gather_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return gather_gradient(call, dy); },
    .attributes = attributes<ResourceGatherAttributes>,
    .saves = Saves::all_inputs(),
    .facts = {.stateful = true, .reads_only = true},
};

const OpDef resource_scatter_add_op{
    .signature =
        "ResourceScatterAdd(resource: resource, indices: Tindices, updates: dtype) -> (); dtype: number; Tindices: "
        "{int32, int64}",
    .summary = "Adds to rows of the variable; rows named twice add up.",
    .shape = scatter_shape,
    .gradient = not_differentiable,
    .attributes = attributes<VariableAttributes>,
    .facts = {.stateful = true},
};

const OpDef resource_scatter_sub_op{
    .signature =
        "ResourceScatterSub(resource: resource, indices: Tindices, updates: dtype) -> (); dtype: number; Tindices: "
        "{int32, int64}",
    .summary = "Subtracts from rows of the variable; rows named twice add up.",
    .shape = scatter_shape,
    .gradient = not_differentiable,
    .attributes = attributes<VariableAttributes>,
    .facts = {.stateful = true},
};

const OpDef resource_scatter_update_op{
    .signature =
        "ResourceScatterUpdate(resource: resource, indices: Tindices, updates: dtype) -> (); dtype: any; Tindices: "
        "{int32, int64}",
    .summary = "Replaces rows of the variable; of rows named twice the last one stays.",
    .shape = scatter_shape,
    .gradient = not_differentiable,
    .attributes = attributes<VariableAttributes>,
    .facts = {.stateful = true},
};

OpList state_ops() {
  static constexpr const OpDef* list[] = {
      &var_handle_op,          &var_is_initialized_op,   &read_variable_op,        &assign_variable_op,
      &assign_add_variable_op, &assign_sub_variable_op,  &variable_shape_op,       &destroy_resource_op,
      &resource_gather_op,     &resource_scatter_add_op, &resource_scatter_sub_op, &resource_scatter_update_op};
  return list;
}

}  // namespace capstan
