// Operations of neural networks beyond the golden rows: public functions, second derivatives, and where TensorFlow is
// no reference.
#include "capstan/ops/nn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/linalg.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "compare.h"
#include "finite_differences.h"

namespace capstan {
namespace {

using conformance::finite_difference;
using conformance::nearly_equal;

Tensor ramp(const Shape& shape, double step = 0.37) {
  std::vector<double> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(1.0 + step * static_cast<double>(i * i + 3 * i));
  return constant(std::span<const double>(values), shape);
}

double total(const Tensor& x) { return reduce_sum(x).item<double>(); }

// ---- products -------------------------------------------------------------------------------------------------------

TEST(MatMul, TransposesAndAdjoints) {
  const Tensor a = ramp({2, 3}), b = ramp({4, 3}, 0.2);
  EXPECT_TRUE(nearly_equal(einsum("ij,kj->ik", {a, b}), matmul(a, b, {.transpose_b = true})));
  EXPECT_TRUE(nearly_equal(einsum("ij,kj->ik", {a, b}), matmul(a, b, {.adjoint_b = true})));
  const Tensor batch = ramp({5, 2, 3});
  EXPECT_TRUE(nearly_equal(einsum("bij,kj->bik", {batch, b}), matmul(batch, b, {.transpose_b = true})));
  const Tensor z = constant({std::complex<double>(1, 2), std::complex<double>(3, -1)}, Shape{1, 2});
  EXPECT_EQ(matmul(z, z, {.adjoint_b = true}).item<std::complex<double>>(), std::complex<double>(15, 0));
  EXPECT_EQ(matmul(z, z, {.transpose_b = true}).item<std::complex<double>>(), std::complex<double>(5, -2));
  const Tensor zs = reshape(z, Shape{1, 1, 2});
  EXPECT_EQ(matmul(zs, zs, {.transpose_b = true}).item<std::complex<double>>(), std::complex<double>(5, -2));
  EXPECT_EQ(matmul(zs, zs, {.adjoint_b = true}).item<std::complex<double>>(), std::complex<double>(15, 0));
  EXPECT_THROW(matmul(a, b, {.transpose_a = true, .adjoint_a = true}), InvalidArgument);
}

TEST(MatMul, SaysWhichDimensionsDisagree) {
  try {
    matmul(ones(Shape{2, 3}), ones(Shape{4, 5}));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "MatMul: inner dimensions must agree, got [2,3] and [4,5] (3 against 4)");
  }
}

// Public report 94.
TEST(MatMul, ZeroBatchBroadcasts) {
  EXPECT_EQ(matmul(ones(Shape{0, 2, 3}), ones(Shape{1, 3, 4})).shape(), (Shape{0, 2, 4}));
}

// Public report 81.
TEST(MatMul, EmptyInnerDimensionGivesZeros) {
  const Tensor a = ones(Shape{4, 0}), b = ones(Shape{0, 4});
  GradientTape tape;
  tape.watch(std::vector{a, b});
  const Tensor product = matmul(a, b);
  for (float value : product.values<float>()) EXPECT_EQ(value, 0.f);
  const auto [da, db] = tape.gradient(product, a, b);
  EXPECT_EQ(Tensor(da).shape(), a.shape());
  EXPECT_EQ(Tensor(db).shape(), b.shape());
}

TEST(Einsum, ManyTensorsAndImplicitOutput) {
  const Tensor a = ramp({2, 3}), b = ramp({3, 4}, 0.2), c = ramp({4, 2}, 0.3);
  EXPECT_TRUE(nearly_equal(matmul(matmul(a, b), c), einsum("ij,jk,kl->il", {a, b, c})));
  EXPECT_TRUE(nearly_equal(matmul(a, b), einsum("ij,jk", {a, b})));
  EXPECT_TRUE(nearly_equal(matmul(a, b), einsum(" ij , jk -> ik ", {a, b})));
  EXPECT_THROW(einsum("ij,jk->ik", {a}), InvalidArgument);
}

// ---- softmax and cross entropy --------------------------------------------------------------------------------------

TEST(Softmax, AlongAnyAxis) {
  const Tensor x = ramp({2, 3, 4});
  EXPECT_TRUE(nearly_equal(transpose(softmax(transpose(x, {0, 2, 1})), {0, 2, 1}), softmax(x, {.axis = 1})));
  EXPECT_TRUE(nearly_equal(softmax(x), softmax(x, {.axis = 2})));
  EXPECT_TRUE(nearly_equal(log(softmax(x, {.axis = -3})), log_softmax(x, {.axis = 0})));
  EXPECT_THROW(softmax(x, {.axis = 3}), InvalidArgument);
  EXPECT_THROW(softmax(constant(1.f)), InvalidArgument);
}

// Public report 89.
TEST(CrossEntropy, SecondDerivative) {
  const Tensor logits = constant({{1.0, 2.0, 3.0}}), one_hot = constant({{0.0, 0.0, 1.0}});
  const double expected[3][3] = {
      {0.0819251, -0.0220330, -0.0598920}, {-0.0220330, 0.1848364, -0.1628034}, {-0.0598920, -0.1628034, 0.2226954}};
  for (bool is_sparse : {false, true}) {
    GradientTape outer({.persistent = true});
    outer.watch(logits);
    GradientTape inner;
    inner.watch(logits);
    const Tensor loss =
        is_sparse ? sparse_softmax_cross_entropy(constant({2}), logits) : softmax_cross_entropy(one_hot, logits);
    const Tensor gradient = inner.gradient(loss, logits);
    for (std::size_t row = 0; row < 3; ++row) {
      std::vector<double> seed(3);
      seed[row] = 1;
      const Tensor second = outer.gradient(gradient, logits, {.output_gradients = {constant(seed, Shape{1, 3})}});
      for (std::size_t column = 0; column < 3; ++column)
        EXPECT_NEAR(second.values<double>()[column], expected[row][column], 1e-7);
    }
  }
}

// The op's gradient takes labels that sum to 1 for granted.

/// The sum of both outputs of the cross entropy with weights, as a function of features and labels.
double weighted(const std::vector<Tensor>& at, const Tensor& loss_seed, const Tensor& backprop_seed) {
  const auto outputs = find_op("SoftmaxCrossEntropyWithLogits").call_all(at, {});
  return total(outputs[0] * loss_seed) + total(outputs[1] * backprop_seed);
}

// TensorFlow gives the labels no gradient through the second output.
TEST(CrossEntropy, GradientsOfBothOutputs) {
  for (const auto& [a, b] :
       {std::pair{Shape{2, 4}, Shape{2, 4}}, {Shape{1, 4}, Shape{2, 4}}, {Shape{2, 4}, Shape{1, 4}}}) {
    const Tensor features = ramp(a), labels = softmax(ramp(b, 0.2)), loss_seed = ramp({2}),
                 backprop_seed = ramp({2, 4}, 0.9);
    GradientTape tape({.persistent = true});
    tape.watch(std::vector{features, labels});
    const auto outputs = find_op("SoftmaxCrossEntropyWithLogits").call_all(std::vector{features, labels}, {});
    const auto gradients =
        tape.gradient(outputs, std::vector{features, labels}, {.output_gradients = {loss_seed, backprop_seed}});
    const std::vector<Tensor> at{features, labels};
    for (std::size_t i = 0; i < 2; ++i) {
      const Tensor numeric =
          finite_difference([&](const std::vector<Tensor>& x) { return weighted(x, loss_seed, backprop_seed); }, at, i);
      EXPECT_TRUE(nearly_equal(numeric, gradients[i].tensor(), 1e-6, 1e-6)) << "input " << i;
    }
  }
}

// Public report 90: the fused op takes labels as they are.
TEST(CrossEntropy, LabelsThatSumToZero) {
  const Tensor logits = constant({{0.1, 0.9}}), labels = constant({{0.0, 0.0}});
  GradientTape tape;
  tape.watch(logits);
  const Tensor gradient = tape.gradient(softmax_cross_entropy(labels, logits), logits);
  EXPECT_NEAR(gradient.values<double>()[0], 0.310026, 1e-6);
  EXPECT_NEAR(gradient.values<double>()[1], 0.689974, 1e-6);
}

TEST(CrossEntropy, ShapesOfMoreDimensions) {
  const Tensor logits = ramp({2, 3, 4});
  const Tensor labels = constant({{0, 1, 2}, {3, 2, 1}});
  EXPECT_EQ(sparse_softmax_cross_entropy(labels, logits).shape(), (Shape{2, 3}));
  EXPECT_EQ(softmax_cross_entropy(softmax(logits), logits).shape(), (Shape{2, 3}));
  EXPECT_THROW(sparse_softmax_cross_entropy(constant({0, 1}), logits), InvalidArgument);
  EXPECT_THROW(softmax_cross_entropy(ramp({2, 4}), logits), InvalidArgument);
}

TEST(CrossEntropy, NamesTheLabelOutOfRange) {
  try {
    sparse_softmax_cross_entropy(constant({0, 7}), ones(Shape{2, 4}));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "SparseSoftmaxCrossEntropyWithLogits: labels must be in [0, 4), got 7 in row 1");
  }
}

// ---- pools and biases -----------------------------------------------------------------------------------------------

TEST(Pool, ChannelsFirstAgreesWithChannelsLast) {
  const Tensor x = ramp({2, 5, 6, 3}), first = transpose(x, {0, 3, 1, 2});
  const PoolOptions last{.ksize = {3, 2}, .strides = {2, 1}, .padding = "SAME"};
  PoolOptions options = last;
  options.data_format = "NCHW";
  for (auto pool : {max_pool, avg_pool}) {
    GradientTape tape;
    tape.watch(std::vector{x, first});
    const Tensor a = pool(x, last), b = pool(first, options);
    EXPECT_TRUE(nearly_equal(transpose(a, {0, 3, 1, 2}), b));
    const Tensor sum = reduce_sum(a * a) + reduce_sum(b * b);
    const auto [da, db] = tape.gradient(sum, x, first);
    EXPECT_TRUE(nearly_equal(transpose(Tensor(da), {0, 3, 1, 2}), Tensor(db)));
  }
}

TEST(Pool, ExplicitPaddingsAreForMaxPoolOnly) {
  EXPECT_THROW(avg_pool(ramp({1, 4, 4, 1}), {.explicit_paddings = {0, 0, 1, 1, 1, 1, 0, 0}}), InvalidArgument);
}

TEST(BiasAdd, ChannelsFirst) {
  const Tensor x = zeros(Shape{1, 2, 3});
  EXPECT_EQ(bias_add(x, constant({1.f, 2.f}), "NCHW").to_vector<float>(), (std::vector<float>{1, 1, 1, 2, 2, 2}));
}

// ---- normalization --------------------------------------------------------------------------------------------------

Tensor narrow(const Tensor& x) { return constant_as(x, DType::float32); }

/// The fused form, or the same out of basic operations.
Tensor normalized(const Tensor& x, const Tensor& scale, const Tensor& offset, bool is_fused) {
  const Tensor none = zeros(Shape{0});
  if (is_fused) return fused_batch_norm(x, scale, offset, none, none, {.epsilon = 0.1f}).y;
  const auto [mean, variance] = moments(x, {.axis = {0, 1, 2}});
  return batch_normalization(x, mean, variance, offset, scale, 0.1);
}

TEST(BatchNorm, DerivativesToTheThirdOrder) {
  const Tensor x = narrow(ramp({2, 2, 3, 2})), scale = constant({1.5f, -0.5f}), offset = constant({0.1f, 0.2f});
  const Tensor weights = narrow(ramp({2, 2, 3, 2}, 0.7));
  std::vector<Tensor> results[2];
  for (bool is_fused : {false, true}) {
    GradientTape third;
    third.watch(std::vector{x, scale});
    GradientTape second({.persistent = true});
    second.watch(std::vector{x, scale});
    GradientTape first({.persistent = true});
    first.watch(std::vector{x, scale, offset});
    const Tensor y = normalized(x, scale, offset, is_fused);
    const Tensor loss = reduce_sum(square(y) * weights);
    const Tensor dx = first.gradient(loss, x), d_scale = first.gradient(loss, scale),
                 d_offset = first.gradient(loss, offset);
    const Tensor mixed = reduce_sum(square(dx)) + reduce_sum(square(d_scale)) + reduce_sum(square(d_offset));
    const Tensor dx2 = second.gradient(mixed, x), d_scale2 = second.gradient(mixed, scale);
    const Tensor last = reduce_sum(square(dx2)) + reduce_sum(square(d_scale2));
    const auto [dx3, d_scale3] = third.gradient(last, x, scale);
    results[is_fused] = {y, dx, d_scale, d_offset, dx2, d_scale2, dx3, d_scale3};
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    const double size = 1 + std::abs(reduce_mean(square(results[0][i])).item<float>());
    EXPECT_TRUE(nearly_equal(results[0][i], results[1][i], 1e-3, 1e-4 * size)) << "result " << i;
  }
}

TEST(BatchNorm, InferenceUsesTheGivenStatistics) {
  const Tensor x = narrow(ramp({2, 2, 3, 2})), scale = constant({1.5f, -0.5f}), offset = constant({0.1f, 0.2f});
  const Tensor mean = constant({0.5f, -1.f}), variance = constant({2.f, 0.7f});
  Tensor y[2], dx[2], d_scale[2];
  for (bool is_fused : {false, true}) {
    GradientTape tape;
    tape.watch(std::vector{x, scale});
    if (is_fused) {
      const auto all = fused_batch_norm(x, scale, offset, mean, variance, {.epsilon = 0.1f, .is_training = false});
      EXPECT_EQ(all.mean.to_vector<float>(), mean.to_vector<float>());
      EXPECT_EQ(all.variance.to_vector<float>(), variance.to_vector<float>());
      y[1] = all.y;
    } else {
      y[0] = batch_normalization(x, mean, variance, offset, scale, 0.1f);
    }
    const auto [first, second] = tape.gradient(reduce_sum(square(y[is_fused])), x, scale);
    dx[is_fused] = first;
    d_scale[is_fused] = second;
  }
  EXPECT_TRUE(nearly_equal(y[0], y[1], 1e-5, 1e-5));
  EXPECT_TRUE(nearly_equal(dx[0], dx[1], 1e-5, 1e-5));
  EXPECT_TRUE(nearly_equal(d_scale[0], d_scale[1], 1e-5, 1e-5));
}

TEST(BatchNorm, ChannelsFirstAgrees) {
  const Tensor x = narrow(ramp({2, 2, 3, 2})), first = transpose(x, {0, 3, 1, 2}), two = constant({1.f, 2.f});
  for (bool is_training : {false, true}) {
    const auto a = fused_batch_norm(x, two, two, two, two, {.is_training = is_training});
    const auto b = fused_batch_norm(first, two, two, two, two, {.data_format = "NCHW", .is_training = is_training});
    EXPECT_TRUE(nearly_equal(transpose(a.y, {0, 3, 1, 2}), b.y));
    EXPECT_TRUE(nearly_equal(a.mean, b.mean));
  }
}

TEST(BatchNorm, EmptyBatch) {
  const Tensor none = zeros(Shape{0}), two = ones(Shape{2});
  const auto [y, mean, variance] = fused_batch_norm(zeros(Shape{0, 3, 2, 2}), two, two, none, none);
  EXPECT_EQ(y.shape(), (Shape{0, 3, 2, 2}));
  EXPECT_TRUE(std::isnan(mean.values<float>()[0]));
}

TEST(BatchNorm, ComposedFormsAgreeWithTheFusedOne) {
  const Tensor x = constant({{0.5f, -1.f}, {2.f, 3.f}, {-0.25f, 1.f}}), scale = constant({1.5f, -0.5f}),
               offset = constant({0.1f, 0.2f});
  const auto [mean, variance] = moments(x, {.axis = 0});
  const Tensor none = zeros(Shape{0});
  const auto fused = fused_batch_norm(reshape(x, Shape{3, 1, 1, 2}), scale, offset, none, none, {.epsilon = 0.01f});
  EXPECT_TRUE(nearly_equal(reshape(fused.y, Shape{3, 2}), batch_normalization(x, mean, variance, offset, scale, 0.01),
                           1e-5, 1e-5));
  EXPECT_TRUE(nearly_equal(mean, fused.mean, 1e-5, 1e-5));
}

TEST(LayerNorm, RowsHaveMeanZeroAndVarianceOne) {
  const Tensor y = layer_normalization(ramp({3, 8}), Tensor(), Tensor(), 1e-12);
  const auto [mean, variance] = moments(y, {.axis = -1});
  EXPECT_TRUE(nearly_equal(zeros(Shape{3}, DType::float64), mean, 0, 1e-9));
  EXPECT_TRUE(nearly_equal(ones(Shape{3}, DType::float64), variance, 0, 1e-9));
}

TEST(Moments, GradientThroughTheVariance) {
  const Tensor x = ramp({7});
  GradientTape tape;
  tape.watch(x);
  const Tensor gradient = tape.gradient(moments(x).variance, x);
  const Tensor numeric =
      finite_difference([](const std::vector<Tensor>& at) { return moments(at[0]).variance.item<double>(); }, {x}, 0);
  EXPECT_TRUE(nearly_equal(numeric, gradient, 1e-7, 1e-7));
}

// ---- top k ----------------------------------------------------------------------------------------------------------

TEST(TopK, NanComesLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto [values, indices] = top_k(constant({nan, 1.f, nan, 2.f}), 3);
  EXPECT_EQ(indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 1, 0}));
  EXPECT_EQ(top_k(constant({nan, 1.f, nan, 2.f}), 1).indices.item<std::int32_t>(), 3);
}

TEST(TopK, UnsortedHasTheSameElements) {
  const auto [values, indices] = top_k(constant({3.f, 1.f, 4.f, 1.f, 5.f}), 3, /*sorted=*/false);
  auto found = values.to_vector<float>();
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<float>{3, 4, 5}));
}

TEST(TopK, IndicesMustFitTheirType) {
  const Op op = find_op("TopKV2");
  EXPECT_THROW(op.call_all(std::vector{zeros(Shape{40000}), constant(2)}, {{"index_type", DType::int16}}),
               InvalidArgument);
}

TEST(InTopK, TakesTargetsFirst) {
  EXPECT_EQ(in_top_k(constant({2, 0}), constant({{1.f, 2.f, 3.f}, {1.f, 2.f, 3.f}}), 2).to_vector<bool>(),
            (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace capstan
