#include "capstan/autodiff/custom_gradient.h"

#include "autodiff/fit.h"
#include "autodiff/tape.h"
#include "autodiff/variable_reads.h"
#include "capstan/autodiff/record.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "ops/variable_resource.h"

namespace capstan::detail {
namespace {

void check_defined(const std::string& name, std::span<const Tensor> tensors, const char* what) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!tensors[i].is_defined()) throw TypeError(name + ": " + what + " " + std::to_string(i) + " holds no tensor");
}

std::string names_of(std::span<const Tensor> handles) {
  std::string names;
  for (const Tensor& handle : handles) names += (names.empty() ? "'" : ", '") + resource_of(handle)->name() + "'";
  return names;
}

/// New tensors of the same values, which no tape and no accumulator knows yet.
std::vector<Tensor> renewed(std::span<const Tensor> outputs) {
  const StopRecording paused;
  return identity_n(outputs);
}

/// Variables among the inputs are followed as if they had been read.
void watch_variables(std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (input.dtype() == DType::resource && variable_of(input, "custom_gradient").is_trainable())
      watch_accessed_variable(input);
}

std::vector<Tensor> joined(std::vector<Tensor> first, std::span<const Tensor> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// What the rule of a custom gradient gets and what it has to return.
struct Contract {
  std::string name;
  std::vector<TensorSpec> outputs, inputs, variables;

  /// Zeros where an output that carries no gradient leaves a place empty, so that the rule may ask for tensors.
  std::vector<Gradient> filled(std::span<const Gradient> dy) const {
    std::vector<Gradient> all(dy.begin(), dy.end());
    for (std::size_t k = 0; k < all.size(); ++k)
      if (!all[k].has_value() && !is_trainable(outputs[k].dtype) && is_plain(outputs[k].dtype))
        all[k] = zeros(outputs[k].shape, outputs[k].dtype);
    return all;
  }

  void check(std::span<const Gradient> gradients, std::span<const TensorSpec> specs, const char* what) const {
    if (gradients.size() != specs.size())
      throw InvalidArgument(name + ": its gradient function must return one gradient for each " + std::string(what) +
                            ": expected " + std::to_string(specs.size()) + ", got " + std::to_string(gradients.size()));
    check_fit(name, gradients, specs, what);
  }
};

}  // namespace

CustomRule pass_through_rule() {
  return {[](std::span<const Gradient> dy, std::span<const Tensor> variables) {
            return CustomGradients{{dy.begin(), dy.end()}, std::vector<Gradient>(variables.size())};
          },
          true};
}

void throw_rule_takes(std::size_t taken, std::size_t outputs) {
  throw InvalidArgument("with_gradient: the rule takes " + std::to_string(taken) +
                        " output gradients, but the function has " + std::to_string(outputs) +
                        " outputs; a rule may also take std::span<const Gradient>");
}

std::vector<Tensor> run_custom(const std::string& name, const std::vector<Tensor>& inputs,
                               const std::function<CustomBody()>& body) {
  check_defined(name, inputs, "argument");
  watch_variables(inputs);
  CustomBody made;
  std::vector<Tensor> variables;
  {
    const VariableReads reads;
    made = body();
    variables = reads.besides(inputs);
  }
  check_defined(name, made.outputs, "output");
  if (!variables.empty() && !made.rule.takes_variables)
    throw TypeError(name + ": the function reads the variables " + names_of(variables) +
                    ", so its rule needs a last parameter `const std::vector<Variable>& variables` and returns a pair: "
                    "the gradients of the inputs and those of the variables");
  const auto outputs = renewed(made.outputs);
  Contract contract{name, value_specs(outputs), value_specs(inputs), value_specs(variables)};
  record_operation({.name = name,
                    .outputs = outputs,
                    .inputs = joined(inputs, variables),
                    .backward = [contract = std::move(contract), rule = std::move(made.rule),
                                 variables](std::span<const Gradient> dy) {
                      CustomGradients gradients = rule.call(contract.filled(dy), variables);
                      contract.check(gradients.inputs, contract.inputs, "input");
                      contract.check(gradients.variables, contract.variables, "variable");
                      auto& all = gradients.inputs;
                      all.insert(all.end(), gradients.variables.begin(), gradients.variables.end());
                      return all;
                    }});
  return outputs;
}

namespace {

std::string text_of(const TensorSpec& spec) { return std::string(dtype_name(spec.dtype)) + spec.shape.to_string(); }

/// The gradients of a function that is run again for them.
class Recomputation {
 public:
  using Run = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  Recomputation(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> variables,
                std::span<const Tensor> outputs, Run run)
      : name_(std::move(name)),
        inputs_(std::move(inputs)),
        variables_(std::move(variables)),
        outputs_(value_specs(outputs)),
        run_(std::move(run)) {}

  std::vector<Gradient> operator()(std::span<const Gradient> dy) const {
    // One tensor may stand in two places, so each place gets a tensor of its own. Outer tapes see where it comes from.
    std::vector<Tensor> again;
    for (const Tensor& input : inputs_) again.push_back(input.dtype() == DType::resource ? input : identity(input));
    const auto sources = joined(again, variables_);
    const auto places = places_with_gradient(sources);
    GradientTape tape({.watch_accessed_variables = false});
    for (const std::size_t place : places) tape.watch(sources[place]);
    const auto outputs = run_(again);
    check_same(outputs);

    std::vector<Tensor> targets, wanted;
    GradientOptions options{.unconnected_gradients = UnconnectedGradients::zero};
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!dy[k].has_value() || !is_trainable(outputs[k].dtype())) continue;
      targets.push_back(outputs[k]);
      options.output_gradients.push_back(dy[k].tensor());
    }
    for (const std::size_t place : places) wanted.push_back(sources[place]);
    auto gradients = tape.gradient(targets, wanted, options);
    std::vector<Gradient> all(sources.size());
    for (std::size_t i = 0; i < places.size(); ++i) all[places[i]] = std::move(gradients[i]);
    return all;
  }

 private:
  /// Places whose type carries gradients; a variable that was given twice gets its whole gradient in the first one.
  static std::vector<std::size_t> places_with_gradient(std::span<const Tensor> sources) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (!is_trainable(sources[i].dtype())) continue;
      bool is_new = true;
      for (const std::size_t place : places) is_new &= !sources[place].is_same(sources[i]);
      if (is_new) places.push_back(i);
    }
    return places;
  }

  /// Throws FailedPrecondition if the function did not return what it returned the first time.
  void check_same(std::span<const Tensor> outputs) const {
    check_defined(name_, outputs, "output");
    const auto now = value_specs(outputs);
    const std::string reason = ", when the gradient ran the function again; it has to compute the same each time";
    if (now.size() != outputs_.size())
      throw FailedPrecondition(name_ + ": " + std::to_string(now.size()) + " outputs after " +
                               std::to_string(outputs_.size()) + reason);
    for (std::size_t k = 0; k < now.size(); ++k)
      if (now[k].dtype != outputs_[k].dtype || !now[k].shape.is_compatible_with(outputs_[k].shape))
        throw FailedPrecondition(name_ + ": output " + std::to_string(k) + " is " + text_of(now[k]) + " after " +
                                 text_of(outputs_[k]) + reason);
  }

  std::string name_;
  std::vector<Tensor> inputs_, variables_;
  std::vector<TensorSpec> outputs_;
  Run run_;
};

}  // namespace

std::vector<Tensor> run_recomputed(const std::string& name, const std::vector<Tensor>& inputs,
                                   const std::function<std::vector<Tensor>()>& first,
                                   const std::function<std::vector<Tensor>(std::span<const Tensor>)>& again) {
  check_defined(name, inputs, "argument");
  watch_variables(inputs);
  std::vector<Tensor> outputs, variables;
  {
    const StopRecording paused;
    const VariableReads reads;
    outputs = first();
    variables = reads.besides(inputs);
  }
  check_defined(name, outputs, "output");
  for (const Tensor& handle : variables) watch_accessed_variable(handle);
  outputs = renewed(outputs);
  record_operation({.name = name,
                    .outputs = outputs,
                    .inputs = joined(inputs, variables),
                    .backward = Recomputation(name, inputs, variables, outputs, again),
                    .forward = [name](std::span<const Tensor>) -> std::vector<Tensor> {
                      throw Unimplemented(name +
                                          ": there is no forward mode here, because what recompute_grad saves is for "
                                          "gradients only; under a ForwardAccumulator call the function itself");
                    }});
  return outputs;
}

}  // namespace capstan::detail
