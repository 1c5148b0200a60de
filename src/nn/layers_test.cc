#include "capstan/nn/layers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "base/test_errors.h"
#include "capstan/capstan.h"

namespace capstan::nn {
namespace {

std::vector<float> floats(const Tensor& tensor) { return tensor.to_vector<float>(); }

TEST(Layers, DenseMultipliesAndAdds) {
  Dense dense(2, relu, {.kernel_initializer = ones_initializer(), .bias_initializer = constant_initializer(-4)});
  EXPECT_TRUE(dense.variables().empty());
  EXPECT_EQ(floats(dense(constant({{1.f, 2.f}, {3.f, 4.f}}))), (std::vector<float>{0, 0, 3, 3}));
  ASSERT_EQ(dense.trainable_variables().size(), 2u);
  EXPECT_EQ(dense.trainable_variables()[0].name(), "dense/kernel:0");
  EXPECT_EQ(dense(zeros(Shape{5, 3, 2})).shape(), (Shape{5, 3, 2}));
}

TEST(Layers, DenseRefusesBadInput) {
  EXPECT_THROW(Dense(0), InvalidArgument);
  Dense dense(2);
  EXPECT_THROW(dense(constant(1.f)), InvalidArgument);
  dense(zeros(Shape{1, 3}));
  EXPECT_THROW(dense(zeros(Shape{1, 4})), InvalidArgument);
}

TEST(Layers, CopiesAreTheSameLayer) {
  Dense a(3);
  Layer b = a;
  a.build(Shape{-1, 2});
  EXPECT_TRUE(b.variables()[0].is_same(a.variables()[0]));
}

TEST(Layers, SequentialBuildsThroughItsLayers) {
  Sequential model{Conv2D(4, {3, 3}, relu, {.padding = "SAME"}), MaxPool2D(), Flatten(), Dense(5)};
  model.build(Shape{-1, 8, 8, 1});
  ASSERT_EQ(model.variables().size(), 4u);
  EXPECT_EQ(model.variables()[2].shape(), (Shape{64, 5}));
  EXPECT_EQ(model(zeros(Shape{2, 8, 8, 1})).shape(), (Shape{2, 5}));
}

TEST(Layers, DropoutOnlyInTraining) {
  Dropout dropout(0.5, {.seed = SeedPair{1, 2}});
  const Tensor x = ones(Shape{1000});
  EXPECT_EQ(floats(dropout(x)), floats(x));
  const Tensor dropped = dropout(x, {.training = true});
  const float mean = reduce_mean(dropped).item<float>();
  EXPECT_NEAR(mean, 1, 0.15);
  for (float each : floats(dropped)) EXPECT_TRUE(each == 0 || each == 2);
  EXPECT_NE(floats(dropped), floats(dropout(x, {.training = true})));
  EXPECT_THROW(Dropout(1.0), InvalidArgument);
}

TEST(Layers, BatchNormalizationLearnsItsStatistics) {
  BatchNormalization norm({.momentum = 0.5, .epsilon = 0});
  const Tensor x = constant({{1.f, 10.f}, {3.f, 30.f}});
  EXPECT_EQ(floats(norm(x, {.training = true})), (std::vector<float>{-1, -1, 1, 1}));
  EXPECT_EQ(floats(norm.variables()[2]), (std::vector<float>{1, 10}));     // moving mean
  EXPECT_EQ(floats(norm.variables()[3]), (std::vector<float>{1, 50.5f}));  // moving variance
  EXPECT_EQ(norm.trainable_variables().size(), 2u);
}

// From tf.keras.layers.BatchNormalization of TensorFlow 2.21 (Keras 3.15): two steps of training, then inference.
TEST(Layers, BatchNormalizationAsInKeras) {
  struct Row {
    Tensor x;
    std::vector<float> trained, mean, variance, inferred;
  };
  const std::vector<Row> rows{
      {constant({{1.f, 10.f}, {3.f, 30.f}, {8.f, 20.f}}),
       {-1.018990397453308f, -1.2247357368469238f, -0.3396635055541992f, 1.2247357368469238f, 1.3586539030075073f, 0},
       {0.07959999889135361f, 0.39799997210502625f},
       {1.1525667905807495f, 2.3067665100097656f},
       {0.8569494485855103f, 6.320708274841309f, 2.7190732955932617f, 19.486108779907227f, 7.374383449554443f,
        12.90340805053711f}},
      {reshape(constant({1.f, 10.f, 3.f, 30.f, 8.f, 20.f, 0.f, 4.f}), Shape{1, 2, 2, 2}),
       {-0.6488515138626099f, -0.606088399887085f, 0, 1.4142062664031982f, 1.6221287250518799f, 0.40405893325805664f,
        -0.9732772707939148f, -1.21217679977417f},
       {0.059699997305870056f, 0.31839999556541443f},
       {1.1691501140594482f, 2.930299997329712f},
       {0.8692519068717957f, 5.654797077178955f, 2.7181339263916016f, 17.33633041381836f, 7.340339183807373f,
        11.495563507080078f, -0.05518912896513939f, 2.150336742401123f}}};
  for (const Row& row : rows) {
    BatchNormalization norm;
    norm(row.x, {.training = true});
    const auto expect_near = [](const Tensor& found, const std::vector<float>& expected) {
      ASSERT_EQ(found.size(), static_cast<std::int64_t>(expected.size()));
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found.values<float>()[i], expected[i], 1e-6 * (1 + std::abs(expected[i])));
    };
    expect_near(norm(row.x, {.training = true}), row.trained);
    expect_near(norm.variables()[2], row.mean);
    expect_near(norm.variables()[3], row.variance);
    expect_near(norm(row.x), row.inferred);
  }
}

TEST(Layers, AFailedFirstCallBuildsNothing) {
  Dense dense(2);
  EXPECT_THROW(dense(constant({1.f, 2.f, 3.f})), InvalidArgument);  // no batch
  EXPECT_TRUE(dense.variables().empty());
  EXPECT_THROW(dense(constant({{1, 2, 3}})), Error);  // no floating numbers
  EXPECT_TRUE(dense.variables().empty());
  EXPECT_EQ(dense(zeros(Shape{1, 5})).shape(), (Shape{1, 2}));

  Conv2D conv(2, {3, 3});
  EXPECT_THROW(conv(constant(std::vector<int>(4), Shape{1, 2, 2, 1})), Error);  // no floating numbers
  EXPECT_TRUE(conv.variables().empty());

  Dense half(2, {}, {.bias_initializer = [](const Shape&, DType) -> Tensor { throw Unavailable("no bias"); }});
  EXPECT_THROW(half.build(Shape{-1, 3}), Unavailable);
  EXPECT_TRUE(half.variables().empty());
}

TEST(Layers, AFailedBuildOfASequentialLeavesItsLayersAsTheyWere) {
  const Dense before(4);
  before.build(Shape{-1, 3});
  const Sequential model{before, Dense(5), Conv2D(2, {1, 1}), Flatten()};
  EXPECT_THROW(model.build(Shape{-1, 3}), InvalidArgument);
  EXPECT_EQ(model.variables().size(), 2u);
  EXPECT_TRUE(before.is_built());
  EXPECT_THROW(model(zeros(Shape{2, 3})), InvalidArgument);
  EXPECT_EQ(model.variables().size(), 2u);
}

TEST(Layers, ThreadsBuildOnce) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> made = 0;
    const Sequential model{Dense(3, {}, {.kernel_initializer = [&](const Shape& shape, DType dtype) {
                                   ++made;
                                   return ones(shape, dtype);
                                 }})};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { EXPECT_EQ(floats(model(ones(Shape{1, 2}))), (std::vector<float>{2, 2, 2})); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
  }
}

TEST(Layers, GradientsReachEveryVariable) {
  Sequential model{Conv2D(2, {3, 3}, tanh), BatchNormalization(), Flatten(), Dense(3)};
  const Tensor x = stateless_normal(Shape{4, 5, 5, 1}, {1, 2});
  model.build(x.shape());
  GradientTape tape;
  const Tensor loss = reduce_mean(sparse_softmax_cross_entropy(constant({0, 1, 2, 0}), model(x, {.training = true})));
  for (const Gradient& gradient : tape.gradient(loss, model.trainable_variables())) EXPECT_TRUE(gradient.has_value());
}

TEST(Initializers, WithASeedTheyAreTensorFlowsStatelessDraws) {
  const Shape shape{3, 4};
  const double limit = std::sqrt(6.0 / 7);
  EXPECT_EQ(floats(glorot_uniform({.seed = SeedPair{1, 2}})(shape, DType::float32)),
            floats(stateless_uniform(shape, {1, 2}, {.minval = -limit, .maxval = limit})));
  EXPECT_EQ(floats(he_normal({.seed = SeedPair{1, 2}})(shape, DType::float32)),
            floats(stateless_truncated_normal(shape, {1, 2}, {.stddev = std::sqrt(2.0 / 3) / .87962566103423978})));
  EXPECT_THROW(variance_scaling({.scale = 0}), InvalidArgument);
}

TEST(Losses, KnownValues) {
  const Tensor targets = constant({{0.f, 1.f}}), predictions = constant({{1.f, 3.f}});
  EXPECT_EQ(floats(mean_squared_error(targets, predictions)), (std::vector<float>{2.5f}));
  EXPECT_EQ(floats(mean_absolute_error(targets, predictions)), (std::vector<float>{1.5f}));
  EXPECT_EQ(floats(huber(targets, predictions)), (std::vector<float>{1}));
  EXPECT_NEAR(floats(binary_cross_entropy(constant({{1.f}}), constant({{0.f}})))[0], 0.6931472, 1e-6);
  EXPECT_THROW(mean_squared_error(targets, constant({1.f})), InvalidArgument);
}

TEST(Layers, HandlesToNothing) {
  const Layer nothing(nullptr);
  const auto expect_empty = [](auto&& call) {
    expect_contains(message_of<FailedPrecondition>(call), "without a body");
  };
  expect_empty([&] { nothing(zeros({1, 2})); });
  expect_empty([&] { nothing.build({1, 2}); });
  expect_empty([&] { (void)nothing.is_built(); });
  expect_empty([&] { nothing.unbuild(); });
  expect_empty([&] { (void)nothing.name(); });
  expect_contains(message_of<InvalidArgument>([&] { nothing.variables(); }), "its trackable() gave null");
  expect_contains(message_of<InvalidArgument>([&] {
                    Checkpoint{{"layer", nothing}}.write("unwritten");
                  }),
                  "its trackable() gave null");
}

TEST(Layers, SequentialsNestToADepth) {
  Layer model = Sequential(Flatten());
  for (int depth = 1; depth < 50; ++depth) model = Sequential(model);
  EXPECT_EQ(floats(model(constant({{1.f, 2.f}}))), (std::vector<float>{1, 2}));
  expect_contains(message_of<InvalidArgument>([&] { Sequential{std::vector<Layer>{model}}; }), "at most 50");
}

TEST(Metrics, CountCorrectRefusesOtherLabels) {
  const Tensor logits = constant({{0.f, 1.f}, {2.f, 1.f}});
  expect_contains(message_of<TypeError>([&] { count_correct(constant({1.f, 0.f}), logits); }), "got float32");
  expect_contains(message_of<InvalidArgument>([&] { count_correct(constant({1}), logits); }), "shape [2]");
  expect_contains(message_of<InvalidArgument>([&] { count_correct(constant(1), logits); }), "got []");
  expect_contains(message_of<InvalidArgument>([&] { count_correct(constant(1), constant(1.f)); }), "axis of classes");
  EXPECT_EQ(count_correct(constant<std::uint8_t>({1, 0}), logits), 2);
}

TEST(Metrics, Accuracy) {
  EXPECT_EQ(count_correct(constant({1, 0}), constant({{0.f, 1.f}, {0.f, 1.f}})), 1);
  Sequential identity_model{Flatten()};
  auto examples = data::from_tensor_slices(constant({{0.f, 1.f}, {2.f, 1.f}, {0.f, 3.f}}), constant({1, 0, 0}));
  EXPECT_NEAR(accuracy(identity_model, examples, 2), 2.0 / 3, 1e-9);
}

}  // namespace
}  // namespace capstan::nn
