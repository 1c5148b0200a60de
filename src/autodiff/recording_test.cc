// Catalogue T, sections 9 and 9b, and Appendix A: what is recorded, what gradients are shown, and where paths break.
#include <thread>

#include "autodiff/test_tape.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

using Gradients1 = std::vector<Gradient>;

TEST(Recording, T068_PossibleOrder) {
  Tensor c = scalar(1);
  const auto order = [&] { return possible_gradient_order(std::span(&c, 1)); };
  EXPECT_EQ(order(), 0);
  {
    ForwardAccumulator forward(c, scalar(1));
    EXPECT_EQ(order(), 1);
    GradientTape tape;
    tape.watch(c);
    EXPECT_EQ(order(), 2);
  }
  {
    GradientTape tape;
    tape.watch(c);
    EXPECT_EQ(order(), 1);
  }
  GradientTape tape({.persistent = true});
  tape.watch(c);
  EXPECT_EQ(order(), 2);
}

TEST(Recording, T086_SeedsOfAnotherClass) {
  Tensor real = scalar(2), complex_value = constant(std::complex<float>(2, 1));
  GradientTape tape({.persistent = true});
  tape.watch({real, complex_value});
  Tensor y = real * real, z = complex_value * complex_value;
  expect_error<TypeError>([&] { tape.gradient(y, real, {.output_gradients = {complex_value}}); },
                          {"output_gradients[0]", "float32", "complex64"});
  expect_error<TypeError>([&] { tape.gradient(z, complex_value, {.output_gradients = {real}}); },
                          {"output_gradients[0]", "complex64", "float32"});
}

TEST(Recording, T104_ManyPartialsTakeTheMemoryOfOne) {
  Tensor x = ones({1000});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  int most = 0;
  const auto start = live_tensor_count();
  std::vector<Tensor> uses;
  for (int i = 0; i < 100; ++i) {
    Tensor y = ones({1000});
    record_operation("use", std::span(&y, 1), std::span(&x, 1), [&](std::span<const Gradient> dy) {
      most = std::max(most, static_cast<int>(live_tensor_count() - start));
      return Gradients1{dy[0].tensor() * 2};
    });
    uses.push_back(y);
  }
  const int before = static_cast<int>(live_tensor_count() - start);
  expect_near(tape.gradient(uses, x), std::vector<float>(1000, 200));
  EXPECT_LT(most - before, 120) << "partials are added up as they come, only the seeds are alive";
}

TEST(Recording, T124_HessianOfASumOfSquares) {
  for (int columns : {3, 4}) {
    const auto f = [](const Tensor& x) { return .5f * reduce_sum(matmul(x, x, {.transpose_a = true})); };
    const Tensor h = hessian(f, ones({3, columns}));
    ASSERT_EQ(h.shape(), Shape({3, columns, 3, columns}));
    const auto values = floats(h);
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < columns; ++j)
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < columns; ++l) EXPECT_EQ(values[at++], i == k ? 1.f : 0.f);
  }
}

TEST(Recording, T164_DensifyingALotWarns) {
  const auto dense = [](std::int64_t rows) {
    return to_tensor(IndexedSlices{cast(ones({1}), DType::int8), constant({0}), constant({rows})});
  };
  WarningsSeen warnings;
  dense(1000);
  EXPECT_TRUE(warnings.all.empty());
  dense(100'000'000);
  ASSERT_EQ(warnings.all.size(), 1u);
  EXPECT_NE(warnings.all[0].find("100000000"), std::string::npos);
}

TEST(Recording, T165_NobodyListens) {
  Tensor x = scalar(1), y = scalar(2);
  int calls = 0;
  record_operation("f", std::span(&y, 1), std::span(&x, 1), [&](auto) { return ++calls, Gradients1{Gradient()}; });
  EXPECT_FALSE(should_record(std::span(&x, 1)));
  EXPECT_EQ(calls, 0);
}

// What the gradient of this op finds of its inputs and outputs.
std::string seen_by_the_gradient;
Op watching_op(const char* signature, Saves saves) {
  OpDef def{
      .signature = signature,
      .summary = "Notes what its gradient is shown.",
      .shape = shape::unchanged,
      .gradient =
          [](const OpCall& call, Tensor dy) {
            seen_by_the_gradient.clear();
            for (std::size_t i = 0; i < call.input_count(); ++i) seen_by_the_gradient += call.has_input(i) ? 'i' : '-';
            for (std::size_t i = 0; i < call.output_count(); ++i)
              seen_by_the_gradient += call.has_output(i) ? 'o' : '-';
            return Gradients{dy, dy};
          },
      .saves = saves,
      .cpu = elementwise<float>([](auto x, auto y) { return x + y; }),
  };
  return define_op(def);
}

TEST(Recording, T166_GradientsSeeOnlyWhatTheRecordLists) {
  const Op inputs = watching_op("SeesInputs(x: T, y: T) -> (z: T); T: {float}", Saves::all_inputs());
  const Op outputs = watching_op("SeesOutputs(x: T, y: T) -> (z: T); T: {float}", Saves::all_outputs());
  const Op second = watching_op("SeesSecond(x: T, y: T) -> (z: T); T: {float}", Saves::only({1}));
  for (const auto& [op, expected] : {std::pair(inputs, "ii-"), std::pair(outputs, "--o"), std::pair(second, "-i-")}) {
    Tensor x = scalar(1), y = scalar(2);
    GradientTape tape;
    tape.watch({x, y});
    tape.gradient(op(x, y), x);
    EXPECT_EQ(seen_by_the_gradient, expected);
  }
}

struct StretchAttributes {
  float by = 1;
  std::vector<std::int64_t> sizes;
  template <class Field>
  static void fields(Field&& field) {
    field("by", &StretchAttributes::by);
    field("sizes", &StretchAttributes::sizes);
  }
};

std::string asked_attribute = "by";
Op stretch_op() {
  static const Op op = define_op({
      .signature = "StretchForTest(x: T) -> (y: T); T: {float}",
      .summary = "Keeps x.",
      .shape = shape::unchanged,
      .gradient =
          [](const OpCall& call, Tensor dy) {
            return dy * std::get<float>(call.attribute(asked_attribute)) *
                   static_cast<float>(std::get<std::vector<std::int64_t>>(call.attribute("sizes")).at(1));
          },
      .attributes = attributes<StretchAttributes>,
      .saves = Saves::nothing(),
      .cpu = elementwise<float>([](auto x) { return x; }),
  });
  return op;
}

TEST(Recording, T167_AttributesByName) {
  Tensor x = scalar(1);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = stretch_op().call({x}, {{"by", 3.f}, {"sizes", std::vector<std::int64_t>{1, 2}}});
  expect_value(tape.gradient(y, x), 6);
  asked_attribute = "other";
  expect_error<InvalidArgument>([&] { tape.gradient(y, x); }, {"StretchForTest", "other"});
  asked_attribute = "by";
}

TEST(Recording, T184_AttributesAreKeptByValue) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  StretchAttributes attributes{.by = 3, .sizes = {1, 2}};
  const Tensor y = apply(stretch_op().def(), {x}, &attributes);
  attributes.by = 100;
  attributes.sizes.clear();
  expect_value(tape.gradient(y, x), 6);
}

Op op_without_gradient() {
  static const Op op = define_op({
      .signature = "NoRuleForTest(x: T) -> (y: T); T: {float}",
      .summary = "Has no gradient.",
      .shape = shape::unchanged,
      .cpu = elementwise<float>([](auto x) { return x; }),
  });
  return op;
}

TEST(Recording, T171_OpWithoutGradient) {
  Tensor x = scalar(1);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = op_without_gradient()(x);
  expect_error<NotFound>([&] { tape.gradient(y, x); }, {"NoRuleForTest"});
  EXPECT_NE(tape.explain(y, x).find("NoRuleForTest, for which no gradient is registered"), std::string::npos);
}

TEST(Recording, T172_NotDifferentiable) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  expect_none(tape.gradient(stop_gradient(x * 2), x));
}

TEST(Recording, T173_OutputsThatAreConstants) {
  Tensor x = scalar(3), captured = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  record_operation("captured value", std::span(&captured, 1), std::span(&x, 1),
                   [](std::span<const Gradient> dy) { return Gradients1{dy[0]}; });
  expect_value(tape.gradient(captured * captured, x), 6);
}

TEST(Recording, T183_OperationsWithoutOutputs) {
  Tensor x = scalar(3);
  Variable v(0.f);
  GradientTape tape;
  tape.watch(x);
  const std::size_t before = tape.entry_count();
  v.assign(2.f);
  EXPECT_EQ(tape.entry_count(), before);
}

TEST(Recording, T231_OutermostFirst) {
  Tensor x = scalar(2);
  std::vector<std::string> order;
  ForwardAccumulator outer(x, scalar(1)), inner(x, scalar(1));
  Tensor y = scalar(4);
  int call = 0;
  record_operation(
      {.name = "f", .outputs = std::span(&y, 1), .inputs = std::span(&x, 1), .forward = [&](std::span<const Tensor> t) {
         return std::vector{static_cast<float>(++call) * t[0]};
       }});
  expect_value(outer.jvp(y), 1);
  expect_value(inner.jvp(y), 2);
}

TEST(Recording, T244_ABackwardFunctionWithATapeOfItsOwn) {
  Tensor c = scalar(1), s;
  ForwardAccumulator forward(c, scalar(2));
  {
    StopRecording silent;
    s = sin(c);
  }
  record_operation("sine", std::span(&s, 1), std::span(&c, 1), [c](std::span<const Gradient> dy) {
    const Tensor copy = identity(c);
    GradientTape tape;
    tape.watch(copy);
    const Tensor again = sin(copy);
    return Gradients1{tape.gradient(again, copy, {.output_gradients = {dy[0].tensor()}})};
  });
  expect_value(forward.jvp(s), 2 * std::cos(1.f));
}

// ---- explain --------------------------------------------------------------------------------------------------------

TEST(Explain, CutInputsAtAnyPosition) {
  Tensor x = constant({1.f, 2.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor i = argmax(x), stacked = stack({i, i, i, i});
  EXPECT_EQ(tape.explain(stacked, x), "the path goes through ArgMax, which is not differentiable");
  EXPECT_NE(tape.gradient(cast(stacked, DType::float32), x).reason().find("ArgMax"), std::string::npos);
  Variable q(3);
  GradientTape integers;
  integers.watch(q);
  EXPECT_NE(integers.gradient(q * 2, q).reason().find("int32"), std::string::npos);
}

TEST(Explain, AnAssignmentOnTheWay) {
  Tensor x = scalar(2);
  Variable v(1.f, {.name = "state"});
  GradientTape tape;
  tape.watch(x);
  v.assign(3 * x);
  const Tensor y = v * v;
  EXPECT_NE(tape.explain(y, x).find("assignment to variable 'state'"), std::string::npos);
  expect_error<MissingGradient>([&] { Tensor g = tape.gradient(y, x); }, {"assignment", "state"});
}

TEST(Explain, UndefinedTensors) {
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  expect_error<TypeError>([&] { tape.explain(Tensor(), x); }, {"explain"});
  expect_error<TypeError>([&] { tape.explain(x, Tensor()); }, {"explain"});
  const Tensor none;
  expect_error<TypeError>([&] { record_operation("f", std::span(&x, 1), std::span(&none, 1), {}); }, {"'f'"});
}

// ---- a tape against its users ---------------------------------------------------------------------------------------

TEST(Recording, MoreThan65536InputsAndOutputs) {
  Tensor x = scalar(2);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  expect_value(tape.gradient(add_n(std::vector<Tensor>(70'000, x)), x), 70'000);
  Tensor many = zeros({70'000});
  tape.watch(many);
  const auto parts = unstack(many);
  const auto gradient = floats(tape.gradient(parts[69'999] * 3, many));
  ASSERT_EQ(gradient.size(), 70'000u);
  EXPECT_EQ(gradient[69'999], 3);
  EXPECT_EQ(gradient[65'536], 0);
}

TEST(Recording, AskedAgainFromABackwardFunction) {
  Tensor x = scalar(3), o = scalar(1);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  record_operation("f", std::span(&o, 1), std::span(&x, 1), [&](auto) { return Gradients1{tape.gradient(y, x)}; });
  expect_error<FailedPrecondition>([&] { tape.gradient(o, x); }, {"computing gradients"});
  Tensor p = scalar(1);
  record_operation("g", std::span(&p, 1), std::span(&x, 1), [&](auto) {
    tape.reset();
    return Gradients1{Gradient()};
  });
  expect_error<FailedPrecondition>([&] { tape.gradient(p, x); }, {"reset"});
  expect_value(tape.gradient(y, x), 6);  // the tape is as it was
}

TEST(Recording, DroppedOnAnotherThread) {
  Tensor x = constant({1.f, 2.f});
  auto* tape = new GradientTape;
  tape->watch(x);
  Tensor y = x * x;
  std::thread([&] { delete tape; }).join();
  Tensor z = x * x + y;
  expect_near(floats(z), {2, 8});
  GradientTape other;
  other.watch(x);
  expect_near(other.gradient(x * x, x), {2, 4});
}

TEST(Recording, AnIntermediateSourceNeedsNothingBelowIt) {
  Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor below = op_without_gradient()(unstack(x)[0]), y = below * below;
  expect_value(tape.gradient(y, below), 2);  // the op below has no gradient, and nobody asked for it
}

TEST(Recording, TenThousandTapes) {
  Tensor x = scalar(1);
  Tensor total = scalar(0);
  const auto run = [&] {
    GradientTape tape;
    tape.watch(x);
    total = stop_gradient(total + x * x);
    expect_value(tape.gradient(x * x, x), 2);
  };
  run();
  const auto before = live_tensor_count();
  for (int i = 0; i < 10'000; ++i) run();
  EXPECT_EQ(live_tensor_count(), before);
}

TEST(Recording, OneTensorWithManyConsumers) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  std::vector<Tensor> uses;
  for (int i = 0; i < 100'000; ++i) uses.push_back(x * 2);
  expect_value(tape.gradient(uses, x), 200'000);
}

// ---- public reports -------------------------------------------------------------------------------------------------

TEST(PublicReports, PublicReport1_ComputedAfterTheTape) {
  Tensor x = scalar(9);
  GradientTape tape;
  tape.watch(x);
  tape.stop();
  const Tensor y = x * x;
  EXPECT_NE(tape.gradient(y, x).reason().find("outside the tape"), std::string::npos);
}

TEST(PublicReports, PublicReport2_AnUnwatchedTensor) {
  Tensor x = scalar(3), y = scalar(4);
  {
    GradientTape tape;
    EXPECT_NE(tape.gradient(x + y, x).reason().find("not watched"), std::string::npos);
  }
  GradientTape tape;
  tape.watch(x);
  expect_value(tape.gradient(x + y, x), 1);
}

TEST(PublicReports, PublicReport3_AVariableThatIsNotThere) {
  Variable v(zeros({2, 3}, DType::float64)), w(2.);
  for (const auto policy : {UnconnectedGradients::none, UnconnectedGradients::zero}) {
    GradientTape tape;
    tape.watch(v);
    const Gradient gradient = tape.gradient(w * w, v, {.unconnected_gradients = policy});
    if (policy == UnconnectedGradients::none) {
      expect_none(gradient);
    } else {
      EXPECT_EQ(gradient.tensor().shape(), Shape({2, 3}));
      EXPECT_EQ(gradient.tensor().dtype(), DType::float64);
    }
  }
}

TEST(PublicReports, PublicReport13_ReadingAnIntermediate) {
  Tensor a = ones({3, 3});
  GradientTape tape;
  tape.watch(a);
  const Tensor b = a + ones({3, 3, 3});
  EXPECT_FALSE((b < 1).to_vector<bool>()[0]);
  expect_near(tape.gradient(b * b, a), std::vector<float>(9, 12));
}

TEST(PublicReports, PublicReport14_BroadcastAgainstNothing) {
  Tensor a = zeros({4, 0}), b = ones({4, 1});
  GradientTape tape;
  tape.watch(b);
  const Gradient gradient = tape.gradient(reduce_sum(a + b), b);
  EXPECT_EQ(gradient.tensor().shape(), Shape({4, 1}));
  expect_near(gradient, {0, 0, 0, 0});
}

TEST(PublicReports, PublicReport15_AddingLossesInsideATape) {
  Tensor x = scalar(1), total = scalar(0);
  std::int64_t first = 0;
  for (int i = 0; i < 10'000; ++i) {
    GradientTape tape;
    tape.watch(x);
    total = total + x * x;
    expect_value(tape.gradient(total, x), 2);
    if (i == 10) first = live_tensor_count();
  }
  EXPECT_EQ(live_tensor_count(), first);
}

// As in TensorFlow: the second tape follows y through the first one's gradient, which is dy * y.
TEST(Recording, AnOutputThatAnotherTapeWatchesLater) {
  Tensor x = constant({1.f, 2.f});
  GradientTape first({.persistent = true});
  first.watch(x);
  const Tensor y = exp(x);
  first.stop();
  GradientTape second;
  second.watch(y);
  const Gradient g = first.gradient(y, x);
  expect_near(second.gradient(g, y), {1, 1});
}

TEST(Explain, ALongChainOfAssignments) {
  Tensor x = scalar(1), y = x;
  GradientTape tape;
  tape.watch(x);
  std::vector<Variable> variables;
  for (int i = 0; i < 10'000; ++i) {
    variables.emplace_back(0.f);
    variables.back().assign(y * 1);
    y = variables.back() * 1;
  }
  EXPECT_NE(tape.explain(y, x).find("an assignment to variable"), std::string::npos);
}

}  // namespace
}  // namespace capstan
