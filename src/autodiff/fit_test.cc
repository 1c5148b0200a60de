// What backward, forward and registered functions return has to fit.
#include "autodiff/test_tape.h"

namespace capstan {
namespace {

using Tensors = std::span<const Tensor>;

Tensor recorded(const Tensor& x, const Gradient& gradient) {
  Tensor y = scalar(3);
  record_operation("f", Tensors(&y, 1), Tensors(&x, 1), [=](auto) { return std::vector<Gradient>{gradient}; });
  return y;
}

TEST(Fit, BackwardFunctions) {
  const auto slope_of = [](const Gradient& gradient) {
    return slope([&](const Tensor& x) { return recorded(x, gradient) + reduce_sum(x); }, constant({1.f, 2.f}));
  };
  expect_near(slope_of(constant({1.f, 2.f})), {2, 3});
  expect_near(slope_of(Gradient()), {1, 1});
  expect_error<InvalidArgument>([&] { slope_of(scalar(1)); }, {"f: the gradient of input 0", "[2]", "[]"});
  expect_error<TypeError>([&] { slope_of(constant({1., 2.})); }, {"f: the gradient of input 0", "float32", "float64"});
}

TEST(Fit, BackwardFunctionsOfVariables) {
  Variable w(constant({1.f, 2.f}));
  const auto slope_of = [&](const Gradient& gradient) {
    GradientTape tape;
    tape.watch(w);
    return tape.gradient(recorded(w.handle(), gradient), w);
  };
  expect_near(slope_of(constant({1.f, 2.f})), {1, 2});
  expect_error<InvalidArgument>([&] { slope_of(scalar(1)); }, {"input 0", "[2]", "[]"});
}

TEST(Fit, Slices) {
  const Tensor rows = constant({1.f, 1.f}, {1, 2}), index = constant({0});
  const auto slope_of = [](const IndexedSlices& slices) {
    return slope([&](const Tensor& x) { return recorded(x, slices); }, zeros({3, 2}));
  };
  expect_near(slope_of({rows, index, constant({3, 2})}), {1, 1, 0, 0, 0, 0});
  expect_error<InvalidArgument>([&] { slope_of({rows, index, constant({5, 2})}); }, {"input 0", "[3,2]", "[5,2]"});
  expect_error<InvalidArgument>([&] { slope_of({scalar(1), index, constant({3, 2})}); }, {"rows of shape []"});
  expect_error<TypeError>([&] { slope_of({cast(rows, DType::float64), index, constant({3, 2})}); }, {"float64"});
}

TEST(Fit, TransposedBackwardFunctions) {
  Tensor x = constant({1.f, 2.f});
  const ForwardAccumulator forward(x, x);
  expect_error<InvalidArgument>([&] { recorded(x, scalar(1)); }, {"f: the gradient of input 0", "[2]", "[]"});
}

TEST(Fit, ForwardFunctions) {
  const auto tangent = [](const Tensor& made) {
    Tensor x = constant({1.f, 2.f}), y = constant({3.f, 4.f});
    const ForwardAccumulator forward(x, x);
    record_operation({.name = "f", .outputs = Tensors(&y, 1), .inputs = Tensors(&x, 1), .forward = [&](Tensors) {
                        return std::vector{made};
                      }});
    return forward.jvp(y);
  };
  expect_near(tangent(constant({5.f, 6.f})), {5, 6});
  expect_none(tangent(Tensor()));
  expect_error<InvalidArgument>([&] { tangent(scalar(1)); }, {"f: the tangent of output 0", "[2]", "[]"});
  expect_error<TypeError>([&] { tangent(constant({1, 2})); }, {"float32", "int32"});
}

TEST(Fit, RegisteredFunctions) {
  const Op op = define_op({.signature = "FitTestCube(x: T) -> (y: T); T: {float, double}",
                           .summary = "x cubed, elementwise.",
                           .shape = shape::unchanged,
                           .cpu = elementwise<float, double>([](auto x) { return x * x * x; })});
  static Gradient returned;
  register_gradient("FitTestCube", [](const OpCall&, auto) { return std::vector<Gradient>{returned}; });
  const auto slope_of = [&op](Gradient gradient) {
    returned = std::move(gradient);
    return slope(op, constant({1.f, 2.f}));
  };
  expect_near(slope_of(constant({5.f, 6.f})), {5, 6});
  expect_error<InvalidArgument>([&] { slope_of(scalar(1)); }, {"FitTestCube: the gradient of input 0", "[2]", "[]"});
  expect_error<TypeError>([&] { slope_of(constant({1, 2})); }, {"FitTestCube", "float32", "int32"});
  expect_error<MissingGradient>([&] { slope_of(Gradient()).tensor(); },
                                {"a gradient function on the way returned none"});
}

}  // namespace
}  // namespace capstan
