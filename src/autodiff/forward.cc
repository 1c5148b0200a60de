#include "autodiff/forward.h"

#include "autodiff/op_gradient.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"

namespace capstan {
namespace {

Tensor sum_of(Tensor a, Tensor b) {
  if (!a.is_defined()) return b;
  return b.is_defined() ? std::move(a) + std::move(b) : a;
}

/// The op itself on other inputs: what is linear in some of them maps their tangents.
std::vector<Tensor> run_with(const OpCall& call, std::span<const InputRef> inputs) {
  return apply_all(call.op(), inputs, call.raw_attributes());
}

std::vector<Tensor> linear(const OpCall& call, std::span<const Tensor> tangents) {
  std::vector<Tensor> zeros;
  zeros.reserve(tangents.size());
  std::vector<InputRef> inputs;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!call.op().forward.is_linear_in(i) || !is_trainable(call.input(i).dtype()))
      inputs.push_back(call.input(i));
    else if (tangents[i].is_defined())
      inputs.push_back(tangents[i]);
    else
      inputs.push_back(zeros.emplace_back(zeros_like(call.input(i))));
  }
  return run_with(call, inputs);
}

std::vector<Tensor> multilinear(const OpCall& call, std::span<const Tensor> tangents) {
  std::vector<Tensor> sums(call.output_count());
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].is_defined()) continue;
    std::vector<InputRef> inputs(call.inputs().begin(), call.inputs().end());
    for (InputRef& input : inputs) input.is_given_away = false;
    inputs[i] = tangents[i];
    auto parts = run_with(call, inputs);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = sum_of(std::move(sums[k]), std::move(parts[k]));
  }
  return sums;
}

/// Elementwise functions of real numbers have diagonal Jacobians where no argument is broadcast, and a diagonal is its
/// own transpose: the gradient with the tangent in place of the output's gradient.
bool is_diagonal(const OpCall& call, std::span<const Tensor> tangents) {
  if (!call.op().facts.elementwise || call.output_count() != 1) return false;
  const DType dtype = call.output(0).dtype();
  if (!is_floating(dtype)) return false;
  for (std::size_t i = 0; i < tangents.size(); ++i)
    if (tangents[i].is_defined() && (call.input(i).dtype() != dtype || call.input(i).shape() != call.output(0).shape()))
      return false;
  return true;
}

Tensor diagonal(const OpCall& call, std::span<const Tensor> tangents) {
  Tensor sum;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].is_defined()) continue;
    OpCall of_input = call;
    of_input.describe_dropped(nullptr, false, nullptr, i < 64 ? std::uint64_t{1} << i : ~std::uint64_t{0});
    Gradient seed(tangents[i]);
    std::vector<Gradient> gradients(call.input_count());
    run_op_gradient(of_input, std::span(&seed, 1), gradients);
    if (gradients[i].has_value()) sum = sum_of(std::move(sum), gradients[i].tensor());
  }
  return sum;
}

/// Inputs whose gradients are wanted: those with a tangent.
std::uint64_t needed(std::span<const Tensor> tangents) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(tangents.size(), 64); ++i)
    if (tangents[i].is_defined()) bits |= std::uint64_t{1} << i;
  return bits;
}

std::vector<Tensor> transposed_gradient(const OpCall& call, std::span<const Tensor> tangents) {
  OpCall for_inputs = call;
  for_inputs.describe_dropped(nullptr, false, nullptr, needed(tangents));
  std::vector<TensorSpec> outputs;
  for (std::size_t k = 0; k < call.output_count(); ++k)
    outputs.push_back({call.output(k).dtype(), call.output(k).shape()});
  return transposed(
      [&](std::span<const Gradient> dy) {
        std::vector<Gradient> seeds(dy.begin(), dy.end()), gradients(call.input_count());
        run_op_gradient(for_inputs, seeds, gradients);
        return gradients;
      },
      outputs, tangents);
}

}  // namespace

std::vector<Tensor> transposed(const Transposable& backward, std::span<const TensorSpec> outputs,
                               std::span<const Tensor> tangents) {
  GradientTape tape({.watch_accessed_variables = false});
  std::vector<Gradient> seeds;
  std::vector<Tensor> watched;
  for (const TensorSpec& output : outputs) {
    seeds.emplace_back();
    watched.emplace_back();
    if (!is_trainable(output.dtype) || !is_plain(output.dtype)) continue;
    watched.back() = zeros(output.shape, output.dtype);
    tape.watch(watched.back());
    seeds.back() = watched.back();
  }
  const std::vector<Gradient> gradients = backward(seeds);
  if (gradients.size() != tangents.size())
    throw Internal("forward mode: a backward function returned a wrong number of gradients: " +
                   std::to_string(gradients.size()) + ", expected " + std::to_string(tangents.size()));
  std::vector<Tensor> targets, sources;
  GradientOptions options;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i].is_defined() || !gradients[i].has_value()) continue;
    targets.push_back(gradients[i].tensor());
    options.output_gradients.push_back(tangents[i]);
  }
  for (const Tensor& tensor : watched)
    if (tensor.is_defined()) sources.push_back(tensor);
  std::vector<Tensor> result(outputs.size());
  if (targets.empty()) return result;
  const std::vector<Gradient> through = tape.gradient(targets, sources, options);
  std::size_t at = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!watched[k].is_defined()) continue;
    const Gradient& tangent = through[at++];
    if (tangent.has_value()) result[k] = tangent.tensor();
  }
  return result;
}

std::vector<Tensor> output_tangents(const OpCall& call, std::span<const Tensor> tangents) {
  const OpDef& op = call.op();
  switch (op.forward.kind()) {
    case ForwardRule::Kind::linear:
      return linear(call, tangents);
    case ForwardRule::Kind::multilinear:
      return multilinear(call, tangents);
    case ForwardRule::Kind::function: {
      std::vector<Tensor> result(call.output_count());
      op.forward.function()(call, tangents, result);
      return result;
    }
    case ForwardRule::Kind::derived:
      break;
  }
  if (is_not_differentiable(op)) return std::vector<Tensor>(call.output_count());
  if (is_diagonal(call, tangents)) return {diagonal(call, tangents)};
  return transposed_gradient(call, tangents);
}

}  // namespace capstan
