#include "autodiff/sweep.h"

#include "autodiff/fit.h"
#include "autodiff/op_gradient.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "ops/slices.h"

namespace capstan {

namespace {

const Tensor& nothing() {
  static const Tensor* const undefined = new Tensor;
  return *undefined;
}

bool carries(const Edge& edge) { return edge.exists() && !edge.is_cut; }

/// Shape of the operation's output, of which this is the gradient.
Shape shape_of_gradient(const Gradient& dy) {
  if (!dy.is_slices()) return dy.tensor().shape();
  const Tensor& dense = dy.slices().dense_shape;
  if (!dense.is_defined() || dense.is_symbolic()) return dy.tensor().shape();
  Shape shape;
  const Tensor sizes = cast(dense, DType::int64);
  for (const std::int64_t size : sizes.values<std::int64_t>()) shape.push_back(size);
  return shape;
}

}  // namespace

void Sweep::Accumulator::add(Gradient gradient) {
  if (gradient.is_slices()) {
    slices.push_back(gradient.slices());
    return;
  }
  if (!dense.is_defined())
    dense = std::move(gradient).tensor();
  else
    dense = std::move(dense) + std::move(gradient).tensor();
}

Gradient Sweep::Accumulator::total() {
  if (slices.empty()) return dense.is_defined() ? Gradient(dense) : Gradient();
  IndexedSlices sum = slices.size() == 1 ? slices[0] : concat_slices(slices);
  slices.clear();
  if (!dense.is_defined()) {
    slices.push_back(sum);
    return sum;
  }
  dense = std::move(dense) + to_tensor(sum);
  return dense;
}

void Sweep::add_target(const Tensor& target, Gradient seed) {
  const Edge edge = tape_.find(target);
  if (!edge.exists()) return;
  visit(edge.entry);
  seeds_.emplace_back(edge, std::move(seed));
}

void Sweep::visit(std::uint32_t index) {
  Entry& entry = tape_.entry(index);
  if (entry.mark == mark_) return;
  entry.mark = mark_;
  entry.pending = 0;
  entry.slot = static_cast<std::uint32_t>(accumulators_.size());
  accumulators_.resize(accumulators_.size() + entry.output_count);
  reached_.push_back(index);
}

Sweep::Accumulator* Sweep::accumulator(const Edge& edge) {
  const Entry& entry = tape_.entry(edge.entry);
  return entry.mark == mark_ ? &accumulators_[entry.slot + edge.output] : nullptr;
}

/// Reaches everything the targets depend on, and counts for each entry how many inputs of reached entries it feeds.
void Sweep::reach() {
  for (std::size_t at = 0; at < reached_.size(); ++at) {
    const Entry& entry = tape_.entry(reached_[at]);
    if (entry.is_cut) continue;
    for (std::size_t i = 0; i < entry.input_count; ++i) {
      const Edge& edge = entry.edge(i);
      if (!carries(edge)) continue;
      visit(edge.entry);
      ++tape_.entry(edge.entry).pending;
    }
  }
}

/// Brings the reached entries into an order in which each comes after all that it feeds.
void Sweep::order() {
  std::vector<std::uint32_t> ready;
  for (std::uint32_t index : reached_)
    if (tape_.entry(index).pending == 0) ready.push_back(index);
  order_.reserve(reached_.size());
  while (!ready.empty()) {
    const std::uint32_t index = ready.back();
    ready.pop_back();
    order_.push_back(index);
    const Entry& entry = tape_.entry(index);
    if (entry.is_cut) continue;
    for (std::size_t i = 0; i < entry.input_count; ++i)
      if (carries(entry.edge(i)) && --tape_.entry(entry.edge(i).entry).pending == 0)
        ready.push_back(entry.edge(i).entry);
  }
}

/// Only what lies between targets and sources is computed.
void Sweep::mark_paths(std::span<const Edge> sources) {
  for (const Edge& source : sources) {
    if (!source.exists()) continue;
    if (Accumulator* sum = accumulator(source)) sum->is_source = true;
  }
  for (std::size_t at = order_.size(); at-- > 0;) {
    Entry& entry = tape_.entry(order_[at]);
    entry.leads_to_source = false;
    if (!entry.is_cut)
      for (std::size_t i = 0; i < entry.input_count && !entry.leads_to_source; ++i) {
        const Edge& edge = entry.edge(i);
        entry.leads_to_source =
            carries(edge) && (tape_.entry(edge.entry).leads_to_source || accumulator(edge)->is_source);
      }
  }
}

bool Sweep::is_wanted(const Edge& edge) {
  return carries(edge) && (tape_.entry(edge.entry).leads_to_source || accumulator(edge)->is_source);
}

std::uint64_t Sweep::needed_inputs(const Entry& entry) {
  std::uint64_t needed = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(entry.input_count, 64); ++i)
    if (is_wanted(entry.edge(i))) needed |= std::uint64_t{1} << i;
  return needed;
}

std::vector<Gradient> Sweep::run(std::span<const Tensor> sources) {
  std::vector<Edge> edges;
  for (const Tensor& source : sources) edges.push_back(tape_.find(source));
  reach();
  order();
  mark_paths(edges);
  for (auto& [edge, seed] : seeds_) accumulator(edge)->add(std::move(seed));
  seeds_.clear();
  for (const std::uint32_t index : order_) process(index);
  std::vector<Gradient> gradients;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Accumulator* sum = edges[i].exists() && is_trainable(sources[i].dtype()) ? accumulator(edges[i]) : nullptr;
    gradients.push_back(sum ? sum->total() : Gradient());
  }
  return gradients;
}

void Sweep::process(std::uint32_t index) {
  Entry& entry = tape_.entry(index);
  if (entry.kind == Entry::Kind::leaf || entry.is_cut) return;
  SmallVector<Gradient, 4> dy(entry.output_count);
  if (collect(entry, dy) && entry.leads_to_source) call_gradient(index, dy);
  if (!tape_.is_persistent()) tape_.release_saved(index);
}

/// Takes the sums that arrived at the entry's outputs; false if there is none.
bool Sweep::collect(Entry& entry, std::span<Gradient> dy) {
  bool any = false;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    Accumulator& sum = accumulators_[entry.slot + i];
    dy[i] = sum.total();
    any = any || dy[i].has_value();
    if (!sum.is_source) sum = {};
  }
  if (!any || !entry.leads_to_source || dy.size() == 1 || !entry.details) return any;
  if (entry.details->takes_absent_gradients) return true;
  const std::uint64_t may_be_absent = entry.kind == Entry::Kind::op ? entry.op->facts.gradient_may_be_absent : 0;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    if (dy[i].has_value() || (i < 64 && (may_be_absent >> i & 1))) continue;
    const TensorSpec& spec = entry.details->outputs[i];
    const auto& sources = entry.details->output_sources;
    if (!is_trainable(spec.dtype) || !is_plain(spec.dtype)) continue;
    dy[i] = i < sources.size() && sources[i].is_defined() ? zeros_like(sources[i]) : zeros(spec.shape, spec.dtype);
  }
  return true;
}

void Sweep::call_gradient(std::uint32_t index, std::span<Gradient> dy) {
  Entry& entry = tape_.entry(index);
  SmallVector<Gradient, 4> dx(entry.input_count);
  if (entry.kind == Entry::Kind::function)
    call_function(entry, dy, dx);
  else
    call_op_gradient(index, dy, dx);
  for (std::size_t i = 0; i < entry.input_count; ++i) {
    const Edge& edge = entry.edge(i);
    if (dx[i].has_value() && is_wanted(edge)) accumulator(edge)->add(std::move(dx[i]));
  }
}

void Sweep::call_op_gradient(std::uint32_t index, std::span<Gradient> dy, std::span<Gradient> dx) {
  Entry& entry = tape_.entry(index);
  const OpDef& op = *entry.op;
  SmallVector<InputRef, 4> inputs;
  SmallVector<Tensor, 4> outputs;
  std::size_t at = 0;
  for (std::size_t i = 0; i < entry.input_count; ++i)
    inputs.emplace_back(op.saves.input(i) ? std::as_const(entry.saved[at++]) : nothing());
  for (std::uint32_t i = 0; i < entry.output_count; ++i)
    outputs.push_back(op.saves.output(i) ? tape_.saved_output(index, i, entry.saved[at++]) : nothing());
  OpCall call(op, entry.attributes.get(), inputs, outputs);
  if (entry.shapes_like_output) {
    // Only ops with one output are stored so; its gradient has the output's shape.
    const Shape shape = shape_of_gradient(dy[0]);
    call.describe_dropped(&shape, true, entry.dtypes, needed_inputs(entry));
    run_op_gradient(call, dy, dx);
  } else {
    const auto& sources = entry.details->input_sources;
    call.describe_dropped(entry.details->input_shapes.data(), false, entry.details->input_dtypes.data(),
                          needed_inputs(entry), sources.empty() ? nullptr : sources.data());
    run_op_gradient(call, dy, dx);
  }
}

void Sweep::call_function(Entry& entry, std::span<const Gradient> dy, std::span<Gradient> dx) {
  const BackwardFunction backward = entry.details->backward;  // the function may drop the tape's own copy
  std::vector<Gradient> result = backward(dy);
  if (result.size() != dx.size())
    throw Internal(entry.details->name + ": its backward function returned " + std::to_string(result.size()) +
                   " gradients, expected " + std::to_string(dx.size()) +
                   (result.size() < dx.size() ? " (too few)" : " (too many)"));
  check_fit(entry.details->name, result, entry.details->values, "input");
  std::move(result.begin(), result.end(), dx.begin());
  if (is_logging_gradients()) log_gradient(entry.name(), nullptr, dy, dx);
}

}  // namespace capstan
