#include "graph/plan.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "capstan/base/error.h"
#include "op/observer.h"
#include "op/runtime.h"
#include "ops/identity.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

bool has_static_outputs(const Node& node) {
  return std::ranges::all_of(node.outputs, [](const NodeOutput& output) { return output.spec.shape.is_fully_known(); });
}

/// Runs kernels for what they are: nobody records or listens. Kernels of calls and loops run plans of their own.
class Silent {
 public:
  Silent() : state_(thread_state()) { thread_state() = {}; }
  ~Silent() { thread_state() = state_; }
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;

 private:
  const ThreadState state_;
};

}  // namespace

/// The values of one running call.
struct Plan::Frame {
  std::vector<Tensor> slots;
  std::vector<InputRef> inputs;  // of all steps
  std::vector<TensorSpec> specs;
};

Plan::Plan(GraphBody& graph, std::span<const Endpoint> inputs, std::span<const Endpoint> outputs,
           std::span<const std::int32_t> targets, std::string name)
    : graph_(graph.shared_from_this()),
      name_(std::move(name)),
      inputs_(inputs.begin(), inputs.end()),
      outputs_(outputs.begin(), outputs.end()),
      first_slot_(static_cast<std::size_t>(graph.size()), kNoSlot) {
  const std::vector<bool> is_needed = find_needed(targets);
  place_inputs();
  for (std::int32_t i = 0; i < graph_->size(); ++i)
    if (is_needed[static_cast<std::size_t>(i)] && first_slot_[static_cast<std::size_t>(i)] == kNoSlot) add_node(i);
  place_outputs();
  find_last_uses();
  first_slot_ = {};
}

Plan::~Plan() = default;

/// Nodes stand in an order in which each follows what it needs, so one look from the end finds what must run.
std::vector<bool> Plan::find_needed(std::span<const std::int32_t> targets) const {
  std::vector<bool> is_needed(static_cast<std::size_t>(graph_->size())), is_fed(is_needed.size());
  const auto need = [&](std::int32_t node) { is_needed[static_cast<std::size_t>(node)] = true; };
  for (const Endpoint& input : inputs_) is_fed[static_cast<std::size_t>(input.node)] = true;
  for (const Endpoint& output : outputs_) need(output.node);
  for (const std::int32_t target : targets) need(target);
  for (std::int32_t i = graph_->size(); i-- > 0;) {
    const Node& node = graph_->node(i);
    if (!is_needed[static_cast<std::size_t>(i)] || is_fed[static_cast<std::size_t>(i)]) continue;
    if (graph_->constant_value({i, 0}) && node.outputs.size() == 1) continue;
    for (const Endpoint& input : node.inputs) need(input.node);
    for (const std::int32_t before : node.control_inputs) {
      const Node& other = graph_->node(before);
      if (!other.op || !other.op->facts.reads_only) need(before);  // what nobody looks at need not be read
    }
  }
  return is_needed;
}

void Plan::place_inputs() {
  for (const Endpoint& input : inputs_) {
    std::uint32_t& slot = first_slot_[static_cast<std::size_t>(input.node)];
    if (slot == kNoSlot) slot = slot_count_++;
    input_places_.push_back(slot);
  }
  specs_.resize(slot_count_);
}

std::uint32_t Plan::slot(Endpoint at) const {
  return first_slot_[static_cast<std::size_t>(at.node)] + static_cast<std::uint32_t>(at.output);
}

void Plan::add_node(std::int32_t index) {
  const Node& node = graph_->node(index);
  first_slot_[static_cast<std::size_t>(index)] = slot_count_;
  slot_count_ += static_cast<std::uint32_t>(node.outputs.size());
  for (const NodeOutput& output : node.outputs) specs_.push_back(output.spec);
  const Tensor* value = node.outputs.size() == 1 ? graph_->constant_value({index, 0}) : nullptr;
  if (value)
    constants_.emplace_back(slot({index, 0}), *value);
  else
    add_step(index);
}

void Plan::add_step(std::int32_t index) {
  const Node& node = graph_->node(index);
  if (!node.op)
    throw Unimplemented("'" + name_ + "': node '" + node.name + "' has the op " + node.type + ", which is not known");
  Step step;
  step.node = &node;
  step.attributes = node.attributes.get();
  step.first_input = static_cast<std::uint32_t>(input_slots_.size());
  step.input_count = static_cast<std::uint32_t>(node.inputs.size());
  std::vector<Tensor> types;
  types.reserve(node.inputs.size());
  for (const Endpoint& input : node.inputs) {
    input_slots_.push_back(slot(input));
    types.push_back(new_symbolic_tensor(graph_->output(input).spec.dtype, Shape::unknown()));
  }
  step.kernel = kernel_for(*node.op, std::vector<InputRef>(types.begin(), types.end()), step.attributes);
  step.first_output = first_slot_[static_cast<std::size_t>(index)];
  step.output_count = static_cast<std::uint32_t>(node.outputs.size());
  step.has_static_shapes = has_static_outputs(node);
  steps_.push_back(step);
}

/// Callers get tensors of their own: not an input, not a constant, not the same one twice.
void Plan::place_outputs() {
  std::vector<bool> is_taken(slot_count_);
  for (const std::uint32_t input : input_places_) is_taken[input] = true;
  for (const auto& [constant, value] : constants_) is_taken[constant] = true;
  for (const Endpoint& output : outputs_) {
    output_slots_.push_back(slot(output));
    output_is_shared_.push_back(is_taken[output_slots_.back()]);
    is_taken[output_slots_.back()] = true;
  }
}

void Plan::find_last_uses() {
  std::vector<bool> is_used_later(slot_count_);
  for (const std::uint32_t output : output_slots_) is_used_later[output] = true;
  for (const auto& [constant, value] : constants_) is_used_later[constant] = true;
  is_last_use_.resize(input_slots_.size());
  for (std::size_t s = steps_.size(); s-- > 0;) {
    Step& step = steps_[s];
    const std::span inputs(input_slots_.data() + step.first_input, step.input_count);
    step.first_release = static_cast<std::uint32_t>(releases_.size());
    for (std::uint32_t k = 0; k < step.output_count; ++k)
      if (!is_used_later[step.first_output + k]) releases_.push_back(step.first_output + k);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (is_used_later[inputs[i]]) continue;
      // Given away once: a kernel that writes over one argument must not find it in another.
      is_last_use_[step.first_input + i] = std::ranges::count(inputs, inputs[i]) == 1;
      if (std::ranges::find(inputs, inputs[i]) - inputs.begin() == static_cast<std::ptrdiff_t>(i))
        releases_.push_back(inputs[i]);
    }
    for (const std::uint32_t input : inputs) is_used_later[input] = true;
    step.release_count = static_cast<std::uint32_t>(releases_.size()) - step.first_release;
  }
}

std::unique_ptr<Plan::Frame> Plan::new_frame() const {
  auto frame = std::make_unique<Frame>();
  frame->slots.resize(slot_count_);
  frame->specs.resize(slot_count_);
  frame->inputs.reserve(input_slots_.size());
  for (std::size_t i = 0; i < input_slots_.size(); ++i) {
    frame->inputs.emplace_back(std::as_const(frame->slots[input_slots_[i]]));
    frame->inputs.back().is_given_away = is_last_use_[i];
  }
  for (const auto& [constant, value] : constants_) frame->slots[constant] = value;
  return frame;
}

std::unique_ptr<Plan::Frame> Plan::take_frame() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto frame = std::move(idle_.back());
      idle_.pop_back();
      return frame;
    }
  }
  return new_frame();
}

void Plan::give_back(std::unique_ptr<Frame> frame) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(frame));
}

void Plan::run_step(const Step& step, Frame& frame) const {
  const std::span inputs(frame.inputs.data() + step.first_input, step.input_count);
  const std::span outputs(frame.slots.data() + step.first_output, step.output_count);
  std::span<const TensorSpec> specs(specs_.data() + step.first_output, step.output_count);
  if (!step.has_static_shapes) {
    const std::span inferred(frame.specs.data() + step.first_output, step.output_count);
    infer_call(*step.node->op, inputs, step.attributes, inferred);
    specs = inferred;
  }
  KernelContext context(*step.node->op, step.attributes, inputs, specs, outputs, /*may_take_over=*/true);
  step.kernel(context);
  for (std::uint32_t i = 0; i < step.release_count; ++i) frame.slots[releases_[step.first_release + i]] = Tensor();
}

std::vector<Tensor> Plan::run_over(std::vector<Tensor> inputs) const {
  const Silent silent;
  auto frame = take_frame();
  for (std::size_t i = 0; i < inputs.size(); ++i) frame->slots[input_places_[i]] = std::move(inputs[i]);
  const Step* at = nullptr;
  try {
    for (const Step& step : steps_) run_step(*(at = &step), *frame);
  } catch (Error& error) {  // the frame goes, with all that it holds
    error.add_context("node '" + at->node->name + "' of '" + name_ + "'");
    throw;
  } catch (const std::length_error&) {
    throw ResourceExhausted("node '" + at->node->name + "' of '" + name_ + "': out of memory");
  } catch (const std::bad_alloc&) {
    throw ResourceExhausted("node '" + at->node->name + "' of '" + name_ + "': out of memory");
  }
  std::vector<Tensor> outputs;
  outputs.reserve(output_slots_.size());
  for (std::size_t k = 0; k < output_slots_.size(); ++k) {
    Tensor& value = frame->slots[output_slots_[k]];
    outputs.push_back(output_is_shared_[k] ? share_elements(value, value.shape()) : value);
  }
  for (const std::uint32_t output : output_slots_) frame->slots[output] = Tensor();
  for (const auto& [constant, value] : constants_) frame->slots[constant] = value;
  for (const std::uint32_t input : input_places_) frame->slots[input] = Tensor();
  give_back(std::move(frame));
  return outputs;
}

}  // namespace capstan
