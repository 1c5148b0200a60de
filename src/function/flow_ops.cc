// Calls, branches and loops as operations. Their kernels run the plans of their functions; how they are differentiated
// is in derivatives.cc, branch_gradient.cc and loop_gradient.cc.
#include "function/flow_ops.h"

#include "capstan/base/error.h"
#include "op/runtime.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

const GraphFunction& resolved(const InferContext& context, const FunctionAttribute& attribute) {
  if (!attribute.function)
    context.fail("the function '" + attribute.name + "' is not known here; it must be in the graph's library");
  return *attribute.function;
}

void check_inputs(const InferContext& context, const GraphFunction& function, std::size_t first) {
  const std::size_t count = context.input_count() - first;
  if (function.inputs().size() != count)
    context.fail("the function '" + function.name() + "' takes " + std::to_string(function.inputs().size()) +
                 " inputs, got " + std::to_string(count));
  for (std::size_t i = 0; i < count; ++i) {
    const TensorSpec& wanted = function.input(i).spec;
    if (context.input_dtype(first + i) != wanted.dtype)
      context.fail_type("input " + std::to_string(i) + " of the function '" + function.name() + "' must have type " +
                        std::string(dtype_name(wanted.dtype)) + ", got " +
                        std::string(dtype_name(context.input_dtype(first + i))));
    if (!wanted.shape.is_compatible_with(context.input_shape(first + i)))
      context.fail("input " + std::to_string(i) + " of the function '" + function.name() + "' must have shape " +
                   wanted.shape.to_string() + ", got " + context.input_shape(first + i).to_string());
  }
}

void check_outputs(const InferContext& context, const GraphFunction& function) {
  if (function.outputs().size() != context.output_count())
    context.fail("the function '" + function.name() + "' has " + std::to_string(function.outputs().size()) +
                 " outputs, 'Tout' lists " + std::to_string(context.output_count()));
  for (std::size_t k = 0; k < context.output_count(); ++k)
    if (function.output(k).spec.dtype != context.output_dtype(k))
      context.fail_type("output " + std::to_string(k) + " of the function '" + function.name() + "' has type " +
                        std::string(dtype_name(function.output(k).spec.dtype)) + ", 'Tout' says " +
                        std::string(dtype_name(context.output_dtype(k))));
}

/// What holds for both shapes.
Shape common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::unknown();
  Shape shape = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i]) shape.set_dim(i, Shape::kUnknown);
  return shape;
}

void call_shape(InferContext& context) {
  const GraphFunction& function = resolved(context, context.attributes<CallAttributes>().f);
  check_inputs(context, function, 0);
  check_outputs(context, function);
  for (std::size_t k = 0; k < context.output_count(); ++k) context.set_output(k, function.output(k).spec.shape);
}

void branches_shape(InferContext& context, std::span<const FunctionAttribute* const> branches) {
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const GraphFunction& function = resolved(context, *branches[b]);
    check_inputs(context, function, 1);
    check_outputs(context, function);
    for (std::size_t k = 0; k < context.output_count(); ++k) {
      const Shape& of_branch = function.output(k).spec.shape;
      context.set_output(k, b ? common(context.output_shape(k), of_branch) : of_branch);
    }
  }
}

void if_shape(InferContext& context) {
  const auto& attributes = context.attributes<IfAttributes>();
  const FunctionAttribute* const branches[] = {&attributes.then_branch, &attributes.else_branch};
  branches_shape(context, branches);
}

void case_shape(InferContext& context) {
  context.require_rank(0, 0, "branch_index");
  std::vector<const FunctionAttribute*> branches;
  for (const FunctionAttribute& branch : context.attributes<CaseAttributes>().branches) branches.push_back(&branch);
  if (branches.empty()) context.fail("'branches' must list at least one function");
  branches_shape(context, branches);
}

/// The loop's values have the shapes that the body accepts; where it narrows them, so does the loop.
void while_shape(InferContext& context) {
  const auto& attributes = context.attributes<WhileAttributes>();
  const GraphFunction& body = resolved(context, attributes.body);
  check_inputs(context, resolved(context, attributes.cond), 0);
  check_inputs(context, body, 0);
  check_outputs(context, body);
  for (std::size_t k = 0; k < context.output_count(); ++k) context.set_output(k, body.input(k).spec.shape);
}

std::vector<Tensor> inputs_from(const KernelContext& context, std::size_t first) {
  std::vector<Tensor> inputs;
  for (std::size_t i = first; i < context.input_count(); ++i) inputs.push_back(context.input(i));
  return inputs;
}

void set_outputs(KernelContext& context, std::vector<Tensor> outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) context.set_output(k, std::move(outputs[k]));
}

void call_kernel(KernelContext& context) {
  const auto inputs = inputs_from(context, 0);
  set_outputs(context, context.attributes<CallAttributes>().f.function->run(inputs));
}

bool is_true(const KernelContext& context, const Tensor& condition) {
  if (condition.size() == 1) return static_cast<bool>(condition);
  if (condition.rank() == 0 || condition.dtype() == DType::string || condition.size() == 0) return condition.size() > 0;
  context.fail("the condition must have one element, got shape " + condition.shape().to_string());
}

void if_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<IfAttributes>();
  const auto& branch = is_true(context, context.input(0)) ? attributes.then_branch : attributes.else_branch;
  set_outputs(context, branch.function->run(inputs_from(context, 1)));
}

void case_kernel(KernelContext& context) {
  const auto& branches = context.attributes<CaseAttributes>().branches;
  const std::int64_t asked = integers_of(context.input(0))[0];
  const auto last = static_cast<std::int64_t>(branches.size()) - 1;
  const auto index = static_cast<std::size_t>(asked < 0 || asked > last ? last : asked);
  set_outputs(context, branches[index].function->run(inputs_from(context, 1)));
}

void while_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<WhileAttributes>();
  std::vector<Tensor> values = inputs_from(context, 0);
  while (is_true(context, attributes.cond.function->run(values)[0]))
    values = attributes.body.function->run_over(std::move(values));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (k < context.input_count() && values[k].is_same(context.input(k)))
      values[k] = share_elements(values[k], values[k].shape());
  set_outputs(context, std::move(values));
}

constexpr KernelSet for_all_types(Kernel kernel) {
  KernelSet kernels;
  for (Kernel& each : kernels.by_type) each = kernel;
  return kernels;
}

constexpr OpDef flow_record(std::string_view signature, std::string_view summary, ShapeFn shape,
                            const AttributeSchema& (*attributes)(), Kernel kernel, bool is_stateful) {
  return {.signature = signature,
          .summary = summary,
          .shape = shape,
          .attributes = attributes,
          .facts = {.stateful = is_stateful},
          .cpu = for_all_types(kernel)};
}

}  // namespace

const OpDef partitioned_call_op =
    flow_record("PartitionedCall(args: Tin...) -> (output: Tout...)", "Calls a function without side effects.",
                call_shape, attributes<CallAttributes>, call_kernel, false);
const OpDef stateful_partitioned_call_op =
    flow_record("StatefulPartitionedCall(args: Tin...) -> (output: Tout...)", "Calls a function.", call_shape,
                attributes<CallAttributes>, call_kernel, true);
const OpDef if_op = flow_record("If(cond: Tcond, input: Tin...) -> (output: Tout...); Tcond: any",
                                "Calls one function if the condition holds, another one if not.", if_shape,
                                attributes<IfAttributes>, if_kernel, true);
const OpDef stateless_if_op =
    flow_record("StatelessIf(cond: Tcond, input: Tin...) -> (output: Tout...); Tcond: any",
                "Calls one function if the condition holds, another one if not; neither has side effects.", if_shape,
                attributes<IfAttributes>, if_kernel, false);
const OpDef case_op = flow_record("Case(branch_index: int32, input: Tin...) -> (output: Tout...)",
                                  "Calls the function of that number; the last one if there is none of it.", case_shape,
                                  attributes<CaseAttributes>, case_kernel, true);
const OpDef stateless_case_op =
    flow_record("StatelessCase(branch_index: int32, input: Tin...) -> (output: Tout...)",
                "Calls the function of that number, which has no side effects; the last one if there is none of it.",
                case_shape, attributes<CaseAttributes>, case_kernel, false);
const OpDef while_op = flow_record("While(input: T...) -> (output: T...)",
                                   "Replaces the values by the body's results while they fulfil a condition.",
                                   while_shape, attributes<WhileAttributes>, while_kernel, true);
const OpDef stateless_while_op =
    flow_record("StatelessWhile(input: T...) -> (output: T...)",
                "Replaces the values by the body's results while they fulfil a condition; without side effects.",
                while_shape, attributes<WhileAttributes>, while_kernel, false);

std::span<const OpDef* const> function_ops() {
  static const OpDef* const ops[] = {&partitioned_call_op,
                                     &stateful_partitioned_call_op,
                                     &if_op,
                                     &stateless_if_op,
                                     &case_op,
                                     &stateless_case_op,
                                     &while_op,
                                     &stateless_while_op};
  return ops;
}

std::vector<DType> output_types(const GraphFunction& function) {
  std::vector<DType> types;
  for (std::size_t k = 0; k < function.outputs().size(); ++k) types.push_back(function.output(k).spec.dtype);
  return types;
}

std::vector<Shape> output_shapes(const GraphFunction& function) {
  std::vector<Shape> shapes;
  for (std::size_t k = 0; k < function.outputs().size(); ++k) shapes.push_back(function.output(k).spec.shape);
  return shapes;
}

}  // namespace capstan
