// Catalogue T, section 10 as far as it is eager, and the log.
#include "capstan/autodiff/gradient_registry.h"

#include <algorithm>

#include "autodiff/test_tape.h"
#include "capstan/autodiff/gradient_log.h"

namespace capstan {
namespace {

using Gradients1 = std::vector<Gradient>;

/// An op x -> x * x of its own name, without a gradient in its record.
Op square_op(const char* signature) {
  return define_op({.signature = signature,
                    .summary = "x squared.",
                    .shape = shape::unchanged,
                    .cpu = elementwise<float>([](float x) { return x * x; })});
}

Gradient slope(const Op& op, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(op(x), x);
}

TEST(GradientRegistry, T193_OneTable) {
  const auto function = [](const OpCall&, std::span<const Gradient> dy) { return Gradients1{dy[0]}; };
  register_not_differentiable("RegistryTestFirst");
  expect_error<AlreadyExists>([&] { register_gradient("RegistryTestFirst", function); }, {"RegistryTestFirst"});
  register_gradient("RegistryTestSecond", function);
  expect_error<AlreadyExists>([] { register_not_differentiable("RegistryTestSecond"); }, {"RegistryTestSecond"});
  expect_error<AlreadyExists>([&] { register_gradient("RegistryTestSecond", function); });
  // Records of ops count.
  expect_error<AlreadyExists>([&] { register_gradient("MatMul", function); }, {"MatMul"});
  expect_error<AlreadyExists>([&] { register_gradient("ArgMax", function); }, {"ArgMax"});
}

TEST(GradientRegistry, T194_UnknownNames) {
  expect_error<NotFound>([] { lookup_gradient("NoSuchThing"); }, {"NoSuchThing"});
}

TEST(GradientRegistry, T195_NamesMustBeNames) {
  expect_error<InvalidArgument>([] { register_not_differentiable(""); }, {"name"});
  expect_error<InvalidArgument>([] { register_gradient("RegistryTestEmpty", {}); }, {"RegistryTestEmpty", "empty"});
}

TEST(GradientRegistry, T196_Listing) {
  const auto all = registered_gradients();
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find(all, name, &RegisteredGradient::op_type);
    EXPECT_NE(found, all.end()) << name;
    return *found;
  };
  EXPECT_TRUE(find("ArgMax").is_none());
  EXPECT_FALSE(find("MatMul").is_none());
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &RegisteredGradient::op_type));
}

TEST(GradientRegistry, T197_OpsWithoutAGradient) {
  const Op op = square_op("RegistryTestSquareNone(x: T) -> (y: T); T: float");
  Tensor x = scalar(3);
  expect_error<NotFound>([&] { slope(op, x); }, {"RegistryTestSquareNone"});
  // Only if it is asked.
  GradientTape tape;
  tape.watch(x);
  Tensor unrelated = op(x), y = x * x;
  expect_value(tape.gradient(y, x), 6);
}

TEST(GradientRegistry, RegisteredGradientsAreUsed) {
  const Op op = square_op("RegistryTestSquare(x: T) -> (y: T); T: float");
  Tensor x = scalar(3);
  GradientTape before;
  before.watch(x);
  Tensor y = op(x);
  register_gradient("RegistryTestSquare", [](const OpCall& call, std::span<const Gradient> dy) {
    return Gradients1{dy[0].tensor() * 2 * call.input(0)};
  });
  expect_value(before.gradient(y, x), 6);
  expect_value(slope(op, x), 6);
  ForwardAccumulator forward(x, scalar(5));
  expect_value(forward.jvp(op(x)), 30);
  expect_value(forward.jvp(slope(op, x)), 10);
}

TEST(GradientRegistry, NotDifferentiableIsNoError) {
  const Op op = square_op("RegistryTestCut(x: T) -> (y: T); T: float");
  register_not_differentiable("RegistryTestCut");
  Tensor x = scalar(3);
  const Gradient gradient = slope(op, x);
  expect_none(gradient);
  EXPECT_NE(gradient.reason().find("RegistryTestCut, which is not differentiable"), std::string::npos)
      << gradient.reason();
  ForwardAccumulator forward(x, scalar(1));
  expect_none(forward.jvp(op(x)));
}

TEST(GradientRegistry, T200_OutputsThatCarryNoGradient) {
  KernelSet kernels;
  kernels.set(DType::float32, [](KernelContext& context) {
    const float x = context.input(0).values<float>()[0];
    context.make_output<float>(0)[0] = 2 * x;
    context.set_output(1, constant("name"));
  });
  const Op op = define_op({.signature = "RegistryTestNamed(x: T) -> (y: T, name: string); T: float",
                           .summary = "2 x, and a name.",
                           .shape =
                               [](InferContext& context) {
                                 context.set_output(0, context.input_shape(0));
                                 context.set_output(1, Shape{});
                               },
                           .cpu = kernels});
  register_gradient("RegistryTestNamed", [](const OpCall&, std::span<const Gradient> dy) {
    EXPECT_EQ(dy.size(), 2u);
    EXPECT_TRUE(dy[0].has_value());
    EXPECT_FALSE(dy[1].has_value());
    return Gradients1{dy[0].tensor() * 2};
  });
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  const Tensor in = x * 2 * 3;
  const auto outputs = op.call_all(std::span(&in, 1), {});
  EXPECT_EQ(outputs[1].item<std::string>(), "name");
  expect_value(tape.gradient(outputs[0], x), 12);
}

TEST(GradientRegistry, T201_CountsMustAgree) {
  const Op op = square_op("RegistryTestWrong(x: T) -> (y: T); T: float");
  register_gradient("RegistryTestWrong", [](const OpCall&, std::span<const Gradient> dy) {
    return Gradients1{dy[0], dy[0], dy[0]};
  });
  expect_error<InvalidArgument>([&] { slope(op, scalar(1)); }, {"RegistryTestWrong", "returned 3", "expected 1"});
}

TEST(GradientRegistry, LookUpAndCall) {
  Tensor x = scalar(3);
  GradientTape tape;
  tape.watch(x);
  const Op op = square_op("RegistryTestLookUp(x: T) -> (y: T); T: float");
  register_gradient("RegistryTestLookUp", [](const OpCall& call, std::span<const Gradient> dy) {
    // Square's own, found by name.
    return lookup_gradient("Square").function(call, dy);
  });
  expect_value(tape.gradient(op(x), x), 6);
}

TEST(GradientLog, T169_OneLinePerOperationAndGradient) {
  Tensor x = constant({1.f, 2.f});
  std::vector<std::string> lines;
  const auto run = [&] {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(x * 3, x);
  };
  {
    GradientLog log([&](std::string_view line) { lines.emplace_back(line); });
    run();
  }
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[0], "Mul(float32[2], float32[]=3.0) -> (float32[2])");
  const auto gradient =
      std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("gradient of Mul"); });
  ASSERT_NE(gradient, lines.end());
  EXPECT_EQ(
      *gradient,
      "gradient of Mul: inputs (float32[2], float32[]=3.0), output gradients (float32[2]), results (float32[2], none)");
  const auto count = lines.size();
  run();
  EXPECT_EQ(lines.size(), count);  // silent again
}

TEST(GradientLog, T169_CustomNames) {
  std::vector<std::string> lines;
  GradientLog outer([&](std::string_view line) { lines.emplace_back(line); });
  GradientLog inner([](std::string_view) {});
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  tape.gradient(custom_gradient([](Tensor t) { return with_gradient(t, [](Tensor dy) { return dy; }); },
                                {.name = "my_function"})(x),
                x);
  EXPECT_EQ(
      std::ranges::count(lines, "gradient of my_function: output gradients (float32[]=1.0), results (float32[]=1.0)"),
      1);
}

}  // namespace
}  // namespace capstan
