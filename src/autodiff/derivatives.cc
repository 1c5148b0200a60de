#include "capstan/autodiff/derivatives.h"

#include "capstan/base/error.h"
#include "capstan/ops/array.h"

namespace capstan::detail {

std::vector<Tensor> renewed(std::span<const Tensor> tensors) { return identity_n(tensors); }

struct Followed::State {
  State(std::span<const Tensor> given, VjpOptions chosen)
      : options(std::move(chosen)),
        arguments(renewed(given)),
        tape({.persistent = options.persistent, .watch_accessed_variables = false}) {
    for (const Tensor& argument : arguments)
      if (is_trainable(argument.dtype())) tape.watch(argument);
  }

  const VjpOptions options;
  const std::vector<Tensor> arguments;  // made before the tape begins
  GradientTape tape;
  std::vector<Tensor> outputs;
  bool is_used_up = false;
};

Followed::Followed(std::span<const Tensor> given, VjpOptions options)
    : state_(std::make_shared<State>(given, std::move(options))) {}

std::span<const Tensor> Followed::arguments() const { return state_->arguments; }

void Followed::end(std::vector<Tensor> outputs) {
  state_->tape.stop();
  if (outputs.empty())
    throw InvalidArgument(state_->options.name + ": the function returns nothing that could be differentiated");
  state_->outputs = std::move(outputs);
}

std::vector<Gradient> Followed::gradients(std::vector<Tensor> seeds) const {
  State& state = *state_;
  if (!seeds.empty() && seeds.size() != state.outputs.size())
    throw InvalidArgument(state.options.name + ": needs one seed for each output: expected " +
                          std::to_string(state.outputs.size()) + ", got " + std::to_string(seeds.size()));
  if (state.is_used_up)
    throw FailedPrecondition(
        state.options.name +
        ": the gradient was asked for before and is given once; make it with {.persistent = true}");
  auto gradients = state.tape.gradient(state.outputs, state.arguments, {.output_gradients = std::move(seeds)});
  state.is_used_up = !state.options.persistent;
  return gradients;
}

}  // namespace capstan::detail
