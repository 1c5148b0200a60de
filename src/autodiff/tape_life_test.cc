// Catalogue T, sections 2 and 3: the life of a tape, output gradients, unconnected sources.
#include <thread>

#include "autodiff/test_tape.h"

namespace capstan {
namespace {

TEST(Tape, T049_SecondGradientOfAOneShotTape) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  expect_value(tape.gradient(y, x), 6);
  expect_error<FailedPrecondition>([&] { tape.gradient(y, x); }, {"once", "persistent"});
}

TEST(Tape, T050_PersistentGivesMany) {
  Tensor x = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x, z = y * y;
  expect_value(tape.gradient(z, x), 108);
  expect_value(tape.gradient(y, x), 6);
}

TEST(Tape, T051_GradientInsideTheScope) {
  Variable v(1.f);
  GradientTape tape;
  Tensor y = 2 * v;
  expect_value(tape.gradient(y, v), 2);
  EXPECT_FALSE(tape.is_recording());
  tape.stop();
}

TEST(Tape, T052_PersistentRecordsItsOwnGradient) {
  WarningsSeen warnings;
  Variable v(1.f);
  GradientTape tape({.persistent = true});
  Tensor y = v * v;
  Tensor dy = tape.gradient(y, v);
  EXPECT_EQ(dy.item<float>(), 2);
  expect_value(tape.gradient(dy, v), 2);
  EXPECT_FALSE(warnings.all.empty());
}

TEST(Tape, T053_ThirdOrderFromOnePersistentTape) {
  Tensor x = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x * x;
  Tensor dy = tape.gradient(y, x);
  Tensor d2 = tape.gradient(dy, x);
  tape.stop();
  EXPECT_EQ(y.item<float>(), 27);
  EXPECT_EQ(dy.item<float>(), 27);
  EXPECT_EQ(d2.item<float>(), 18);
  expect_value(tape.gradient(d2, x), 6);
}

TEST(Tape, T055_ResumingContinues) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  Tensor y = 2 * x;
  tape.stop();
  tape.resume();
  Tensor z = 2 * y;
  expect_value(tape.gradient(z, x), 4);
}

TEST(Tape, T056_ResumingARecordingTape) {
  GradientTape tape;
  expect_error<InvalidArgument>([&] { tape.resume(); }, {"still recording"});
}

TEST(Tape, T057_AThrowingBodyLeavesNoTapeBehind) {
  Tensor x = scalar(1);
  try {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x;
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(should_record(std::vector{x}));
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  expect_value(tape.gradient(y, x), 2);
}

TEST(Tape, T058_ResetForgets) {
  Variable v(1.f);
  GradientTape tape;
  Tensor loss = v * v;
  tape.reset();
  loss += v * v;
  expect_value(tape.gradient(loss, v), 2);
}

TEST(Tape, T059_ResetClearsTheWatchedList) {
  Variable v(1.f);
  Tensor x = scalar(2);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = v * x;
  tape.reset();
  EXPECT_TRUE(tape.watched_variables().empty());
  Tensor z = x * x;
  expect_none(tape.gradient(z, x));
  Tensor w = v * v;
  EXPECT_EQ(tape.watched_variables().size(), 1u);
}

TEST(Tape, T061_StopRecordingOfOneTape) {
  Variable v(1.f);
  GradientTape tape;
  Tensor y;
  {
    auto paused = tape.stop_recording();
    y = v * v;
  }
  expect_none(tape.gradient(y, v));
}

TEST(Tape, T062_RecordingGoesOnAfterwards) {
  Variable x(1.f);
  GradientTape tape({.persistent = true});
  Tensor x2 = 2 * x, y;
  {
    auto paused = tape.stop_recording();
    y = x2 * x2;
  }
  Tensor z = x2 * x2;
  expect_none(tape.gradient(y, x2));
  expect_value(tape.gradient(z, x2), 4);
}

TEST(Tape, T063_OtherTapesGoOn) {
  Tensor x = scalar(3);
  GradientTape outer, inner;
  outer.watch(x);
  inner.watch(x);
  Tensor y;
  {
    auto paused = inner.stop_recording();
    y = x * x;
  }
  expect_none(inner.gradient(y, x));
  expect_value(outer.gradient(y, x), 6);
}

TEST(Tape, T064_PausingATapeThatDoesNotRecord) {
  GradientTape tape;
  tape.stop();
  expect_error<FailedPrecondition>([&] { auto paused = tape.stop_recording(); }, {"not recording"});
}

TEST(Tape, T065_ErrorWhilePausedResumes) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  try {
    auto paused = tape.stop_recording();
    throw 1;
  } catch (int) {
  }
  Tensor y = x * x;
  expect_value(tape.gradient(y, x), 6);
}

TEST(Tape, T067_StoppedThread) {
  Tensor x = scalar(3), other = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor y;
  {
    StopRecording stopped;
    EXPECT_FALSE(should_record(std::vector{x}));
    tape.watch(other);
    y = x * x;
  }
  Tensor z = other * other;
  expect_none(tape.gradient(std::vector{y, z}, std::vector{x, other})[1]);
}

TEST(Tape, T069_WatchWithoutARecordingTape) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.stop();
  tape.watch(x);
  Tensor y = x * x;
  expect_none(tape.gradient(y, x));
}

TEST(Tape, T070_OtherThreadsAreNotRecorded) {
  Tensor x = scalar(3), y;
  GradientTape tape;
  tape.watch(x);
  std::thread([&] { y = x * x; }).join();
  expect_none(tape.gradient(y, x));
}

TEST(Tape, T071_ConsumingTheInnerLeavesTheOuter) {
  Tensor x = scalar(3);
  GradientTape outer;
  outer.watch(x);
  Tensor y = x * x;
  {
    GradientTape inner;
    inner.watch(y);
    Tensor z = 2 * y;
    expect_value(inner.gradient(z, y), 2);
  }
  y += 2;
  expect_value(outer.gradient(y, x), 6);
}

TEST(Tape, UseFromAnotherThreadIsRefused) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  std::thread([&] { expect_error<FailedPrecondition>([&] { tape.gradient(y, x); }, {"thread"}); }).join();
  expect_value(tape.gradient(y, x), 6);
}

// ---- 3. output gradients and unconnected sources --------------------------------------------------------------------

TEST(Tape, T073_Seed) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  Tensor y = identity(x);
  expect_value(tape.gradient(y, x, {.output_gradients = {scalar(2)}}), 2);
}

TEST(Tape, T074_AbsentSeedMeansOnes) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor a = 2 * x, b = 3 * x;
  expect_value(tape.gradient(std::vector{a, b}, x, {.output_gradients = {Tensor(), scalar(10)}}), 32);
}

TEST(Tape, T075_SeedWeighsElements) {
  Tensor x = constant({1.f, 2.f, 3.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  expect_near(tape.gradient(y, x, {.output_gradients = {constant({1.f, 0.f, 2.f})}}), {2, 0, 12});
}

TEST(Tape, T076_SeedsAreDifferentiable) {
  Tensor x = scalar(1), d = scalar(2);
  GradientTape outer;
  outer.watch(d);
  GradientTape tape;
  tape.watch(x);
  Tensor y = cos(x);
  Tensor g = tape.gradient(y, x, {.output_gradients = {d}});
  EXPECT_NEAR(g.item<float>(), -1.68294, 1e-5);
  EXPECT_NEAR(outer.gradient(g, d).tensor().item<float>(), -0.84147, 1e-5);
}

TEST(Tape, T077_UnconnectedZero) {
  Tensor x = ones(Shape{2, 2}), y = scalar(3);
  GradientTape tape({.persistent = true});
  tape.watch(std::vector{x, y});
  Tensor z = y * y;
  expect_near(tape.gradient(z, x, {.unconnected_gradients = UnconnectedGradients::zero}), {0, 0, 0, 0});
  expect_none(tape.gradient(z, x));
}

TEST(Tape, T079_ZeroModeLeavesConnectedSourcesAlone) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor y = 3 * x;
  expect_value(tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::zero}), 3);
}

TEST(Tape, T080_UnknownMode) {
  expect_error<InvalidArgument>([] { unconnected_gradients_from_name("nonsense"); }, {"unconnected", "nonsense"});
  EXPECT_EQ(unconnected_gradients_from_name("zero"), UnconnectedGradients::zero);
}

TEST(Tape, T605_SeedsMustFitTheTarget) {
  Tensor x = constant({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  expect_error<InvalidArgument>([&] { tape.gradient(y, x, {.output_gradients = {scalar(2)}}); },
                                {"output_gradients[0]", "[2]", "[]"});
  expect_error<InvalidArgument>(
      [&] {
        tape.gradient(y, x, {.output_gradients = {x, x}});
      },
      {"2 output_gradients", "1 target"});
  expect_error<TypeError>([&] { tape.gradient(y, x, {.output_gradients = {constant({1, 2})}}); }, {"float32", "int32"});
}

TEST(Tape, T608_ZerosForSourcesThatCannotHaveAGradient) {
  Tensor x = scalar(1), n = constant(3), s = constant("a");
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  auto gradients = tape.gradient(y, std::vector{n, s}, {.unconnected_gradients = UnconnectedGradients::zero});
  EXPECT_EQ(gradients[0].tensor().item<int>(), 0);
  EXPECT_EQ(gradients[1].tensor().item<std::string>(), "");
}

TEST(Tape, Report3_ZerosOfAnUnusedVariable) {
  Variable v(ones(Shape{2, 3})), w(2.f);
  GradientTape tape({.persistent = true});
  Tensor y = w * w;
  expect_none(tape.gradient(y, v));
  Tensor zero = tape.gradient(y, v, {.unconnected_gradients = UnconnectedGradients::zero});
  EXPECT_EQ(zero.shape(), (Shape{2, 3}));
  EXPECT_EQ(zero.dtype(), DType::float32);
}

}  // namespace
}  // namespace capstan
