// What is known of values before anything runs: constants, what stateless ops make of constants, and sizes that static
// shapes tell.
#include "capstan/base/error.h"
#include "graph/graph.h"
#include "graph/run_node.h"
#include "op/observer.h"
#include "ops/identity.h"
#include "ops/placeholder.h"
#include "tensor/integers.h"

namespace capstan {
namespace {

// Shapes and sizes are wanted, not arrays.
constexpr std::int64_t kMostElements = 256;
constexpr int kDeepest = 64;

bool is_foldable(const Node& node) {
  return node.op && !node.op->facts.stateful && !node.inputs.empty() && !node.outputs.empty() &&
         node.op != &placeholder_with_default_op;
}

bool is_small(const NodeOutput& output) {
  const std::int64_t size = output.spec.shape.num_elements();
  return is_plain(output.spec.dtype) && size >= 0 && size <= kMostElements;
}

/// Takes the recorder and the observers away, so that ops run for what they are.
class Outside {
 public:
  Outside() : state_(std::exchange(thread_state(), ThreadState{})) {}
  ~Outside() { thread_state() = state_; }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  const ThreadState state_;
};

}  // namespace

const Tensor* GraphBody::constant_value(Endpoint at) {
  const std::lock_guard lock(constants_mutex_);  // a finished graph is shared, and finds its constants when asked
  return constant_value(at, 0);
}

const Tensor* GraphBody::constant_value(Endpoint at, int depth) {
  const Node& made = node(at.node);
  if (made.op == &const_op) return &static_cast<const ConstAttributes*>(made.attributes.get())->value;
  if (!is_foldable(made) || !is_small(output(at)) || depth > kDeepest) return nullptr;
  NodeOutput& known = mutable_node(at.node).outputs[static_cast<std::size_t>(at.output)];
  if (!known.is_constant_known) {
    known.constant = evaluate(at, depth);
    known.is_constant_known = true;
  }
  return known.constant.is_defined() ? &known.constant : nullptr;
}

Tensor GraphBody::evaluate(Endpoint at, int depth) {
  const Node& made = node(at.node);
  std::vector<Tensor> inputs;
  for (const Endpoint& input : made.inputs) {
    const TensorSpec& spec = output(input).spec;
    if (made.op->facts.shapes_only && spec.shape.is_fully_known() && is_plain(spec.dtype))
      inputs.push_back(new_symbolic_tensor(spec.dtype, spec.shape));
    else if (const Tensor* value = constant_value(input, depth + 1))
      inputs.push_back(*value);
    else
      return {};
  }
  const Outside outside;
  try {
    return run_node(made, inputs)[static_cast<std::size_t>(at.output)];
  } catch (const Error&) {  // it will be thrown when the graph runs, if it does
    return {};
  }
}

Shape GraphBody::constant_shape(Endpoint sizes) {
  if (const Tensor* value = constant_value(sizes)) {
    Shape shape;
    if (value->rank() != 1 || !is_integer(value->dtype())) return Shape::unknown();
    for (const std::int64_t size : integers_of(*value)) shape.push_back(size < 0 ? Shape::kUnknown : size);
    return shape;
  }
  const Node& made = node(sizes.node);
  if (made.type == "Shape") return output(made.inputs[0]).spec.shape;
  if (made.type == "ShapeN") return output(made.inputs[static_cast<std::size_t>(sizes.output)]).spec.shape;
  if (made.type != "Pack") return Shape::unknown();
  Shape shape;
  for (const Endpoint& input : made.inputs) {
    const Tensor* size = constant_value(input);
    const std::int64_t known = size && size->size() == 1 ? integers_of(*size)[0] : Shape::kUnknown;
    shape.push_back(known < 0 ? Shape::kUnknown : known);
  }
  return shape;
}

}  // namespace capstan
