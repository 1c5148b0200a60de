// Tapes and accumulators that end, or begin, at odd moments and on other threads.
#include <memory>
#include <thread>

#include "autodiff/test_tape.h"

namespace capstan {
namespace {

using Tensors = std::span<const Tensor>;

Tensor cube_with_a_tape_of_its_own(const Tensor& of) {
  return custom_gradient([](Tensor x) {
    const auto tape = std::make_shared<GradientTape>();
    tape->watch(x);
    Tensor y = x * x * x;
    return with_gradient(y, [tape, x, y](Tensor dy) { return tape->gradient(y, x, {.output_gradients = {dy}}); });
  })(of);
}

// The tape is inside of the accumulator, which does not let it hear while the rule ends it.
TEST(Endings, ATapeThatARuleEndsInForwardMode) {
  Tensor x = constant({1.f, 2.f});
  ForwardAccumulator forward(x, constant({1.f, 1.f}));
  Tensor y = cube_with_a_tape_of_its_own(x);
  Tensor z = y * y;  // is told to nobody who is gone
  expect_near(forward.jvp(y), {3, 12});
  expect_near(forward.jvp(z), {6, 192});
}

// What a forward function does, it does while its accumulator and all inside of that do not hear.
template <class Function>
void while_propagating(Function&& function) {
  const Tensor x = scalar(3), y = scalar(9);
  const ForwardAccumulator forward(x, scalar(1));
  record_operation({.name = "f",
                    .outputs = Tensors(&y, 1),
                    .inputs = Tensors(&x, 1),
                    .forward = [&](Tensors) -> std::vector<Tensor> {
                      function();
                      return {scalar(6)};
                    }});
  expect_value(forward.jvp(y), 6);
  Tensor z = x * x;
  expect_value(forward.jvp(z), 6);
}

TEST(Endings, AnOuterTapeEndsDuringPropagation) {
  auto first = std::make_unique<GradientTape>(), last = std::make_unique<GradientTape>();
  while_propagating([&] { last.reset(); });
  while_propagating([&] { first->stop(); });
  EXPECT_FALSE(first->is_recording());
}

TEST(Endings, ATapeThatBeginsDuringPropagationGoesOn) {
  std::unique_ptr<GradientTape> tape;
  GradientTape outer;
  Tensor x = scalar(2), y;
  while_propagating([&] {
    tape = std::make_unique<GradientTape>();
    tape->watch(x);
    outer.watch(x);
  });
  y = x * x;
  expect_value(tape->gradient(y, x), 4);
  expect_value(outer.gradient(y, x), 4);
}

TEST(Endings, AnAccumulatorStopsDuringItsPropagation) {
  Tensor x = scalar(3), y = scalar(9);
  ForwardAccumulator forward(x, scalar(1));
  record_operation({.name = "f",
                    .outputs = Tensors(&y, 1),
                    .inputs = Tensors(&x, 1),
                    .forward = [&](Tensors) -> std::vector<Tensor> {
                      forward.stop();
                      return {scalar(6)};
                    }});
  Tensor z = x * x;
  expect_value(forward.jvp(y), 6);
  expect_none(forward.jvp(z));
}

TEST(Endings, AnAccumulatorEndsDuringItsPropagation) {
  Tensor x = scalar(3), y = scalar(9);
  auto forward = std::make_unique<ForwardAccumulator>(x, scalar(1));
  const ForwardAccumulator inner(x, scalar(1));
  record_operation({.name = "f",
                    .outputs = Tensors(&y, 1),
                    .inputs = Tensors(&x, 1),
                    .forward = [&](Tensors) -> std::vector<Tensor> {
                      forward.reset();
                      return {scalar(6)};
                    }});
  Tensor z = x * x;
  expect_value(inner.jvp(y), 6);
  expect_value(inner.jvp(z), 6);
}

TEST(Endings, AnAccumulatorDroppedOnAnotherThread) {
  Tensor x = scalar(3);
  auto forward = std::make_unique<ForwardAccumulator>(x, scalar(1));
  std::thread([&] { forward.reset(); }).join();
  Tensor y = x * x;
  const ForwardAccumulator other(x, scalar(1));
  expect_value(other.jvp(x * y), 9);
  auto stopped = std::make_unique<ForwardAccumulator>(x, scalar(1));
  stopped->stop();
  std::thread([&] { stopped.reset(); }).join();
  const ForwardAccumulator last(x, scalar(1));
  expect_value(last.jvp(x * x), 6);
}

TEST(Endings, ATapeDroppedByItsOwnSweep) {
  for (const bool persistent : {false, true}) {
    auto tape = std::make_unique<GradientTape>(GradientTapeOptions{.persistent = persistent});
    Tensor x = scalar(5), y = scalar(1);
    tape->watch(x);
    Tensor h = tanh(x * 3);
    record_operation("f", Tensors(&y, 1), Tensors(&h, 1), [&](auto) {
      tape.reset();
      return std::vector<Gradient>{scalar(2)};
    });
    const Tensor z = y * y;
    const Gradient gradient = tape->gradient(z, x);
    const float t = std::tanh(15.f);
    expect_value(gradient, 6 * (1 - t * t));
    EXPECT_EQ(tape, nullptr);
  }
}

Tensor exponential(const Tensor& of) {
  return custom_gradient(
      [](Tensor x) { return with_gradient(exp(x), [x](Tensor dy) { return dy * exponential(x); }); })(of);
}

// The rule calls the function, which would call the rule, if the accumulator listened to its own work.
TEST(Endings, ARuleThatCallsItsFunction) {
  Tensor x = scalar(1);
  ForwardAccumulator outer(x, scalar(1)), inner(x, scalar(1));
  const Gradient first = inner.jvp(exponential(x));
  expect_value(first, std::exp(1.f));
  expect_value(outer.jvp(first), std::exp(1.f));
}

TEST(Endings, NobodyInsideFollowsATangent) {
  Tensor x = scalar(1);
  ForwardAccumulator outer(x, scalar(1)), inner(x, scalar(1));
  expect_none(inner.jvp(outer.jvp(exponential(x))));
}

TEST(Endings, ALogThatItsSinkEnds) {
  std::vector<std::string> lines;
  std::unique_ptr<GradientLog> first, last;
  first = std::make_unique<GradientLog>([&](std::string_view line) {
    lines.emplace_back(line);
    last.reset();  // which has not been told yet
  });
  last = std::make_unique<GradientLog>([&](std::string_view) { ADD_FAILURE(); });
  Tensor x = scalar(2), y = x * x;
  first = std::make_unique<GradientLog>([&](std::string_view line) {
    lines.emplace_back(line);
    first.reset();
  });
  y = x + x;
  EXPECT_EQ(lines.size(), 2u);
  first = std::make_unique<GradientLog>([&](std::string_view) { last.reset(); });
  last = std::make_unique<GradientLog>([](std::string_view) {});
  expect_value(slope([](const Tensor& t) { return t * t; }, x), 4);
}

// The tape stands in a rule that it recorded itself, and ends when the result of that dies.
TEST(Endings, ATapeInARuleOfItsOwn) {
  Tensor x = constant({1.f, 2.f});
  for (int i = 0; i < 3; ++i) {
    Tensor y = cube_with_a_tape_of_its_own(x);
    Tensor z = y * y;
  }
  GradientTape outer;
  outer.watch(x);
  Tensor y = cube_with_a_tape_of_its_own(x);
  y = cube_with_a_tape_of_its_own(y);
  expect_near(outer.gradient(y, x), {9, 2304});
}

// The last record of the rule goes with its result, and the tape with it, while the other tapes are told of the death.
TEST(Endings, ATapeInARuleThatOthersRecorded) {
  Tensor x = constant({1.f, 2.f});
  GradientTape first, last;
  first.watch(x);
  last.watch(x);
  const auto f = custom_gradient([](Tensor in) {
    const auto tape = std::make_shared<GradientTape>();
    tape->watch(in);
    Tensor y = in * in;
    tape->stop();
    return with_gradient(y, [tape, in, y](Tensor dy) { return tape->gradient(y, in, {.output_gradients = {dy}}); });
  });
  for (int i = 0; i < 3; ++i) {
    Tensor y = f(x);
    Tensor z = y * y;
  }
  Tensor y = f(x);
  expect_near(last.gradient(y, x), {2, 4});
}

// A rule is the last to hold an accumulator, and goes with the result.
TEST(Endings, AnAccumulatorInARule) {
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  const auto forward = std::make_shared<ForwardAccumulator>(x, scalar(1));
  Tensor y = scalar(4);
  record_operation(
      {.name = "f",
       .outputs = Tensors(&y, 1),
       .inputs = Tensors(&x, 1),
       .backward = [held = std::make_shared<ForwardAccumulator>(x, scalar(1))](
                       auto) { return std::vector<Gradient>{held->jvp(scalar(0), UnconnectedGradients::zero)}; },
       .is_seen_forward = false});
  y = x * x;
  expect_value(forward->jvp(y), 4);
}

}  // namespace
}  // namespace capstan
