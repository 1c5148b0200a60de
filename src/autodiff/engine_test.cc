// Catalogue T, sections 4 and 5: what the engine promises, nested tapes and higher order.
#include <pthread.h>

#include <functional>

#include "autodiff/test_tape.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

using Gradients1 = std::vector<Gradient>;

TEST(Engine, T088_NothingWatchedNothingCalled) {
  Tensor x = scalar(3), y = identity(x);
  GradientTape tape;
  int calls = 0;
  record_operation("custom", std::vector{y}, std::vector{x}, [&](auto) { return ++calls, Gradients1{scalar(1)}; });
  expect_none(tape.gradient(y, x));
  EXPECT_EQ(calls, 0);
}

TEST(Engine, T089_TooFewGradients) {
  Tensor x = scalar(3), y = scalar(3);
  GradientTape tape;
  tape.watch(x);
  record_operation("my_operation", std::vector{y}, std::vector{x}, [](auto) { return Gradients1{}; });
  expect_error<Internal>([&] { tape.gradient(y, x); }, {"my_operation", "too few", "expected 1", "returned 0"});
}

TEST(Engine, T091_NothingContributesNothing) {
  Tensor x = scalar(3);
  const auto run = [&](Gradient second) {
    GradientTape tape;
    tape.watch(x);
    Tensor a = scalar(1), b = scalar(1);
    record_operation("none", std::vector{a}, std::vector{x}, [](auto) { return Gradients1{Gradient()}; });
    record_operation("some", std::vector{b}, std::vector{x}, [=](auto) { return Gradients1{second}; });
    return tape.gradient(std::vector{a, b}, x);
  };
  expect_value(run(scalar(3)), 3);
  expect_none(run(Gradient()));
}

TEST(Engine, T092_ErrorsOfClosuresPassUnchanged) {
  struct Mine {};
  Tensor x = scalar(3), y = scalar(1);
  const auto before = live_tensor_count();
  {
    GradientTape tape;
    tape.watch(x);
    Tensor kept = x * x;
    record_operation("throws", std::vector{y}, std::vector{kept}, [](auto) -> Gradients1 { throw Mine(); });
    EXPECT_THROW(tape.gradient(y, x), Mine);
    EXPECT_EQ(tape.entry_count(), 0u);
    GradientTape next;
    next.watch(x);
    Tensor z = x * x;
    expect_value(next.gradient(z, x), 6);
  }
  EXPECT_EQ(live_tensor_count(), before);
}

TEST(Engine, T093_OnlyWhatTheTargetsDependOnIsCalled) {
  Tensor x = scalar(2), y = scalar(3);
  GradientTape tape;
  tape.watch(std::vector{x, y});
  int f_calls = 0, unrelated_calls = 0;
  Tensor f = scalar(2), unrelated = scalar(0);
  record_operation("f", std::vector{f}, std::vector{x},
                   [&](std::span<const Gradient> dy) { return ++f_calls, Gradients1{dy[0]}; });
  record_operation("unrelated", std::vector{unrelated}, std::vector{y},
                   [&](std::span<const Gradient> dy) { return ++unrelated_calls, Gradients1{dy[0]}; });
  Tensor z = f * 3;
  expect_value(tape.gradient(z, x), 3);
  EXPECT_EQ(f_calls, 1);
  EXPECT_EQ(unrelated_calls, 0);
}

TEST(Engine, T094_NoCallWithoutOutputGradients) {
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  int calls = 0;
  Tensor a = scalar(1), b = scalar(1);
  record_operation("first", std::vector{a}, std::vector{x},
                   [&](std::span<const Gradient> dy) { return ++calls, Gradients1{dy[0]}; });
  record_operation("blocks", std::vector{b}, std::vector{a}, [](auto) { return Gradients1{Gradient()}; });
  expect_none(tape.gradient(b, x));
  EXPECT_EQ(calls, 0);
}

TEST(Engine, T095_PartialsAreSummedFirst) {
  Tensor x = scalar(2);
  GradientTape tape;
  tape.watch(x);
  int calls = 0;
  Tensor y = scalar(4);
  record_operation("square", std::vector{y}, std::vector{x}, [&](std::span<const Gradient> dy) {
    ++calls;
    return Gradients1{dy[0].tensor() * 4};
  });
  Tensor z = y + y + y;
  expect_value(tape.gradient(z, x), 12);
  EXPECT_EQ(calls, 1);
}

TEST(Engine, T097_ManyUses) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor y = 2 * x, z = y;
  for (int i = 1; i < 10; ++i) z = z + y;
  auto [dx, dy] = tape.gradient(z, x, y);
  expect_value(dx, 20);
  expect_value(dy, 10);
}

/// Runs on a thread with a stack of that many bytes.
void on_small_stack(std::size_t bytes, std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* at) -> void* {
                  (*static_cast<std::function<void()>*>(at))();
                  return nullptr;
                },
                &body),
            0);
  pthread_join(thread, nullptr);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kSmallStack = 1024 * 1024;  // sanitizers need stack of their own
#else
constexpr std::size_t kSmallStack = 256 * 1024;
#endif

TEST(Engine, T098_LongChainsNeedNoStack) {
  on_small_stack(kSmallStack, [] {
    Tensor x = scalar(1), zero = scalar(0);
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 200'000; ++i) y = y + zero;
    expect_value(tape.gradient(y, x), 1);
  });
}

TEST(Engine, T099_DroppingALongChainNeedsNoStack) {
  on_small_stack(kSmallStack, [] {
    Tensor x = scalar(1), one = scalar(1);
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 200'000; ++i) y = y * one;
    EXPECT_EQ(tape.entry_count(), 200'001u);
    y = Tensor();
    EXPECT_EQ(tape.entry_count(), 1u);
    for (int i = 0; i < 200'000; ++i) y = exp(i == 0 ? x : y) * 0.f;
  });
}

TEST(Engine, ManyConsumersOfOneTensor) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * 2, sum = scalar(0);
  for (int i = 0; i < 100'000; ++i) sum = sum + y;
  EXPECT_EQ(tape.gradient(sum, x).tensor().item<float>(), 200'000);
}

TEST(Engine, T100_UnusedOutputsGetZeros) {
  Tensor x = fill(Shape{10, 4}, scalar(2));
  for (int run = 0; run < 2; ++run) {
    GradientTape tape;
    tape.watch(x);
    auto parts = split(x, 2, 1);
    Tensor y = concat({square(parts[0]), zeros(Shape{10, 2})}, 1);
    std::vector<float> expected;
    for (int i = 0; i < 10; ++i) expected.insert(expected.end(), {4, 4, 0, 0});
    expect_near(tape.gradient(y, x), expected);
  }
}

TEST(Engine, T101_SecondOutputOfCrossEntropyIsExempt) {
  Tensor logits = constant({{0.f, 0.f}}), labels = constant({{1.f, 0.f}});
  GradientTape tape;
  tape.watch(logits);
  Tensor loss = reduce_mean(softmax_cross_entropy(labels, logits));
  expect_near(tape.gradient(loss, logits), {-0.5, 0.5});
}

TEST(Engine, T103_OnesAndZerosOfBool) {
  EXPECT_EQ(ones(Shape{2}, DType::boolean).to_vector<bool>(), (std::vector<bool>{true, true}));
  EXPECT_EQ(zeros(Shape{2}, DType::boolean).to_vector<bool>(), (std::vector<bool>{false, false}));
}

TEST(Engine, T105_TheSecondRecordIsTheProducer) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor y = identity(x);
  record_operation("custom", std::vector{y}, std::vector{x},
                   [](std::span<const Gradient> dy) { return Gradients1{dy[0].tensor() * 5}; });
  expect_value(tape.gradient(y, x), 5);
}

TEST(Engine, T106_NoInputsNeverFires) {
  Tensor x = scalar(1), y = scalar(1);
  GradientTape tape;
  tape.watch(x);
  record_operation("source", std::vector{y}, {}, [](auto) -> Gradients1 { throw 1; });
  expect_none(tape.gradient(y, x));
}

TEST(Engine, T107_DroppedOutputsFreeTheirEntries) {
  Tensor x = scalar(0.5f);
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.entry_count(), 1u);  // the leaf
  {
    Tensor y = exp(x);
    for (int i = 0; i < 100; ++i) y = tanh(y) * y;
    EXPECT_GT(tape.entry_count(), 200u);
  }
  EXPECT_EQ(tape.entry_count(), 1u);
  Tensor z = x * x;
  expect_value(tape.gradient(z, x), 1);
}

TEST(Engine, T109_NothingIsKeptAfterTheGradient) {
  Tensor x = ones(Shape{100}), y;
  const auto before = live_tensor_count();
  GradientTape tape;
  tape.watch(x);
  {
    Tensor a = exp(x), off_the_path = log(a) * a;
    y = a * a;
    tape.gradient(y, x);
  }
  EXPECT_EQ(tape.entry_count(), 0u);
  EXPECT_EQ(live_tensor_count(), before + 1);  // y
}

/// Is a buffer still alive? Told by a tensor over memory with a deleter.
struct Watched {
  bool freed = false;
  float memory[64] = {};
  Tensor tensor() {
    for (float& each : memory) each = 0.5f;
    return Tensor::from_memory(memory, DType::float32, Shape{64}, [this](void*) { freed = true; });
  }
};

TEST(Engine, T110_OpsThatSaveNoInputs) {
  Tensor (*const ops[])(Tensor) = {exp, tanh, sigmoid, sqrt, relu, [](Tensor x) { return softmax(x); }, negative};
  for (auto op : ops) {
    Watched watched;
    GradientTape tape;
    Tensor root = ones(Shape{64});
    tape.watch(root);
    Tensor y;
    {
      Tensor x = watched.tensor();
      tape.watch(x);
      y = op(x);
    }
    EXPECT_TRUE(watched.freed) << y;
  }
}

TEST(Engine, T111_OpsThatSaveNoOutputs) {
  const auto before = live_tensor_count();
  Tensor x = fill(Shape{64}, scalar(0.5f));
  GradientTape tape;
  tape.watch(x);
  Tensor w;
  {
    Tensor y = log(x);
    w = negative(y);
  }
  // x, w, and what log saved (x itself): y is gone.
  EXPECT_EQ(live_tensor_count(), before + 2);
}

TEST(Engine, T112_SavedOutputsInSecondOrder) {
  const auto second = [](Tensor (*f)(Tensor), float at) {
    Tensor x = scalar(at);
    GradientTape outer;
    outer.watch(x);
    Tensor dy;
    {
      GradientTape inner;
      inner.watch(x);
      Tensor y = f(x);
      dy = inner.gradient(y, x);
    }
    return outer.gradient(dy, x);
  };
  expect_value(second([](Tensor x) { return exp(x); }, 0), 1);
  const float t = std::tanh(0.5f);
  expect_value(second([](Tensor x) { return tanh(x); }, 0.5f), -2 * t * (1 - t * t));
}

TEST(Engine, T113_SavedOutputsAreNoCycle) {
  const auto before = live_tensor_count();
  {
    Tensor x = scalar(0.5f);
    GradientTape tape;
    tape.watch(x);
    { Tensor y = exp(x); }
    EXPECT_EQ(live_tensor_count(), before + 1);
  }
  {
    Tensor x = scalar(0.5f);
    GradientTape a, b;
    a.watch(x);
    b.watch(x);
    Tensor y = exp(x);
  }
  EXPECT_EQ(live_tensor_count(), before);
}

TEST(Engine, T115_UnknownSourcesAreNoError) {
  Tensor x = scalar(1), unused = scalar(1), stranger = scalar(1);
  GradientTape tape;
  tape.watch(std::vector{x, unused});
  Tensor y = x * x;
  auto gradients = tape.gradient(y, std::vector{unused, stranger});
  expect_none(gradients[0]);
  expect_none(gradients[1]);
}

TEST(Engine, T116_SharedResults) {
  Tensor a = scalar(1), b = scalar(2), y = scalar(3), shared = scalar(7);
  GradientTape tape;
  tape.watch(std::vector{a, b});
  record_operation("both", std::vector{y}, std::vector{a, b}, [=](auto) { return Gradients1{shared, shared}; });
  auto [da, db] = tape.gradient(y, a, b);
  da = Gradient();
  expect_value(db, 7);
}

TEST(Engine, T621_NothingLeaksAfterAGradientCall) {
  const auto before = live_tensor_count();
  for (int wrong : {0, 1}) {
    Tensor a = scalar(1), b = scalar(2), y = scalar(3);
    GradientTape tape;
    tape.watch(std::vector{a, b});
    record_operation("op", std::vector{y}, std::vector{a, b}, [=](auto) {
      Tensor same = scalar(1);
      return wrong ? Gradients1{same} : Gradients1{same, same};
    });
    try {
      tape.gradient(y, a, b);
    } catch (const Internal&) {
    }
  }
  EXPECT_EQ(live_tensor_count(), before);
}

// ---- 5. nested tapes and higher order -------------------------------------------------------------------------------

TEST(Nested, T117_SecondOrder) {
  Tensor x = scalar(5);
  GradientTape outer, inner;
  outer.watch(x);
  inner.watch(x);
  Tensor y = x * x;
  Tensor dy = inner.gradient(y, x);
  EXPECT_EQ(dy.item<float>(), 10);
  expect_value(outer.gradient(dy, x), 2);
}

TEST(Nested, T118_GradientOfGradient) {
  Tensor labels = constant({{0.f}}), logits = constant({{0.1f}});
  GradientTape outer, inner;
  outer.watch(logits);
  inner.watch(logits);
  Tensor loss = softmax_cross_entropy(labels, logits);
  Tensor d = inner.gradient(loss, logits);
  expect_near(outer.gradient(d, logits), {0});
}

TEST(Nested, T119_WatchingIsPerTape) {
  Variable x1(2.f, {.trainable = false}), x2(2.f, {.trainable = false});
  GradientTape tape1;
  tape1.watch(x1);
  GradientTape tape2;
  tape2.watch(std::vector{x1, x2});
  Tensor y = pow(x1, 3), z = pow(x2, 2);
  auto [dy, dz] = tape2.gradient(std::vector{y, z}, x1, x2);
  auto [d1, d2] = tape1.gradient(std::vector<Tensor>{dy, dz}, x1, x2);
  expect_value(d1, 12);
  expect_none(d2);
}

TEST(Nested, T121_ThreeTapes) {
  Tensor x = scalar(3);
  GradientTape a, b, c;
  a.watch(x);
  b.watch(x);
  c.watch(x);
  Tensor y = x * x * x;
  Tensor d1 = c.gradient(y, x), d2 = b.gradient(d1, x), d3 = a.gradient(d2, x);
  EXPECT_EQ(d1.item<float>(), 27);
  EXPECT_EQ(d2.item<float>(), 18);
  EXPECT_EQ(d3.item<float>(), 6);
}

TEST(Nested, T122_HessianTimesVector) {
  Tensor x = constant({1.f, 2.f, 3.f}), v = constant({3.f, 4.f, 5.f});
  GradientTape outer, inner;
  outer.watch(x);
  inner.watch(x);
  Tensor f = reduce_prod(square(tanh(x)));
  Tensor g = inner.gradient(f, x);
  EXPECT_NEAR(f.item<float>(), 0.533728, 1e-5);
  expect_near(floats(g), {0.588639f, 0.0782308f, 0.0105839f}, 1e-4);
  expect_near(outer.gradient(g, x, {.output_gradients = {v}}), {-1.312544f, -0.313805f, -0.0635672f}, 1e-2);
}

TEST(Nested, T123_HessianOfAQuadraticForm) {
  Tensor a = stateless_normal(Shape{4, 4}, {1, 2}), x = stateless_normal(Shape{4, 1}, {3, 4}),
         v = stateless_normal(Shape{4, 1}, {5, 6});
  GradientTape outer, inner;
  outer.watch(x);
  inner.watch(x);
  Tensor f = reduce_sum(x * matmul(a, x));
  Tensor g = inner.gradient(f, x);
  Tensor hv = outer.gradient(g, x, {.output_gradients = {v}});
  expect_near(floats(hv), floats(matmul(a + transpose(a), v)), 1e-5);
}

TEST(Nested, T127_PartialDerivatives) {
  Tensor x = scalar(1);
  GradientTape tape;
  tape.watch(x);
  Tensor y = 2 * x, z = x + y;
  auto [dx, dy] = tape.gradient(z, x, y);
  expect_value(dx, 3);
  expect_value(dy, 1);
  GradientTape stopped;
  stopped.watch(x);
  Tensor y2 = stop_gradient(2 * x);
  stopped.watch(y2);
  Tensor z2 = x + y2;
  auto [dx2, dy2] = stopped.gradient(z2, x, y2);
  expect_value(dx2, 1);
  expect_value(dy2, 1);
}

TEST(Nested, T128_TwoTapesOverOneFunction) {
  Variable v(1.f);
  for (int i = 0; i < 2; ++i) {
    GradientTape tape;
    Tensor y = v * v;
    expect_value(tape.gradient(y, v), 2);
  }
}

TEST(Nested, T129_TrainingThroughACustomProduct) {
  Variable v(2.f);
  Tensor two = scalar(2);
  std::vector<float> losses;
  for (int step = 0; step < 5; ++step) {
    GradientTape tape;
    Tensor value = v;
    Tensor product;
    {
      StopRecording stopped;
      product = two * value;
    }
    record_operation("product", std::vector{product}, std::vector{two, value}, [=](std::span<const Gradient> dr) {
      return Gradients1{dr[0].tensor() * value, dr[0].tensor() * two};
    });
    losses.push_back(product.item<float>());
    v.assign_sub(0.25f * tape.gradient(product, v));
  }
  expect_near(losses, {4, 3, 2, 1, 0});
}

// ---- 8. IndexedSlices -----------------------------------------------------------------------------------------------

const std::vector<float> kRows = {1, 2, 3, 4, 5, 6, 7, 8};

TEST(Slices, T153_ProductOfLookups) {
  Tensor x = constant(kRows, Shape{4, 2});
  GradientTape tape;
  tape.watch(x);
  Tensor y = gather(x, constant({0, 1})) * gather(x, constant({2, 3})) * gather(x, constant({1, 3}));
  expect_near(tape.gradient(y, x), {15, 24, 54, 76, 3, 8, 42, 64});
}

TEST(Slices, T154_SlicesAndDense) {
  Tensor x = constant(kRows, Shape{4, 2});
  GradientTape tape;
  tape.watch(x);
  Tensor y = gather(x, constant({0, 1})) * reduce_sum(2 * x);
  Gradient gradient = tape.gradient(y, x);
  EXPECT_FALSE(gradient.is_slices());
  expect_near(gradient, {92, 92, 92, 92, 20, 20, 20, 20});
}

TEST(Slices, T155_OneItemStaysTheSameObject) {
  Tensor x = scalar(1), y = scalar(1), g = scalar(4);
  GradientTape tape;
  tape.watch(x);
  record_operation("op", std::vector{y}, std::vector{x}, [=](auto) { return Gradients1{g}; });
  EXPECT_TRUE(tape.gradient(y, x).tensor().is_same(g));
}

TEST(Slices, T157_MixedIndexTypesBecomeInt64) {
  Variable v(constant({1.f, 2.f, 3.f}));
  GradientTape tape;
  Tensor y = reduce_sum(gather(v, constant({1}))) + reduce_sum(gather(v, constant({std::int64_t{2}})));
  Gradient gradient = tape.gradient(y, v);
  ASSERT_TRUE(gradient.is_slices());
  EXPECT_EQ(gradient.slices().indices.dtype(), DType::int64);
  expect_near(gradient, {0, 1, 1});
}

TEST(Slices, T158_GatherFromAVariable) {
  Variable v(constant({1.f, 2.f, 3.f}));
  GradientTape tape;
  Tensor y = reduce_sum(gather(v, constant({1, 2})));
  Gradient gradient = tape.gradient(y, v);
  ASSERT_TRUE(gradient.is_slices());
  expect_near(floats(gradient.slices().values), {1, 1});
  EXPECT_EQ(gradient.slices().indices.to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(gradient.slices().dense_shape.to_vector<int>(), (std::vector<int>{3}));
}

TEST(Slices, T159_RepeatedIndicesAreKept) {
  Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = gather(x, constant({0, 0, 1}));
  Gradient gradient = tape.gradient(y, x);
  ASSERT_TRUE(gradient.is_slices());
  EXPECT_EQ(gradient.slices().indices.size(), 3);
  expect_near(gradient, {2, 1});
}

TEST(Slices, T160_GatherOfGather) {
  Tensor x = constant({0.f, 1.f, 2.f, 3.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = gather(gather(x, constant({4, 2, 0})), constant({1}));
  expect_near(tape.gradient(y, x), {0, 0, 1, 0, 0});
}

}  // namespace
}  // namespace capstan
