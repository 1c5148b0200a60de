// Training steps inside functions: catalogue T415 and program 4.
#include "capstan/function/function.h"

#include <gtest/gtest.h>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/ops/array.h"
#include "capstan/ops/linalg.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/optim/optimizer.h"
#include "capstan/state/variable.h"

namespace capstan {
namespace {

TEST(FunctionStep, T415_OptimizerInside) {
  Variable v(1.f);
  optim::SGD momentum{{.learning_rate = 1, .momentum = 0.9}};
  auto step = function([&] {
    GradientTape tape;
    const Tensor loss = v.value() * v.value();
    momentum.apply(tape.gradient(loss, v), v);
    return loss;
  });
  EXPECT_EQ(step().item<float>(), 1);
  EXPECT_EQ(v.value().item<float>(), -1);
}

/// The losses of some steps, eager or inside a function.
template <class Optimizer>
std::vector<float> losses(const Optimizer& optimizer, bool traced) {
  Variable w(constant({{1.f, -1.f}, {0.5f, 2.f}})), table(constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  const auto body = [&](Tensor x, Tensor ids) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(matmul(x, w))) + reduce_sum(square(gather(table, ids)));
    optimizer.apply(tape.gradient(loss, w, table), std::vector{w, table});
    return loss;
  };
  auto step = function(body);
  std::vector<float> all;
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}), ids = constant({2, 0, 2});
  for (int i = 0; i < 4; ++i) all.push_back((traced ? step(x, ids) : body(x, ids)).template item<float>());
  EXPECT_EQ(step.trace_count(), traced ? 1 : 0);
  return all;
}

TEST(FunctionStep, EqualsTheEagerOne) {
  EXPECT_EQ(losses(optim::Adam{{.learning_rate = 0.1}}, true), losses(optim::Adam{{.learning_rate = 0.1}}, false));
  EXPECT_EQ(losses(optim::SGD{{.learning_rate = 0.01}}, true), losses(optim::SGD{{.learning_rate = 0.01}}, false));
  const optim::SGDOptions momentum{.learning_rate = 0.01, .momentum = 0.9, .nesterov = true};
  EXPECT_EQ(losses(optim::SGD{momentum}, true), losses(optim::SGD{momentum}, false));
}

}  // namespace
}  // namespace capstan
