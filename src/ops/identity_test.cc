#include "ops/identity.h"

#include <gtest/gtest.h>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/partition.h"

namespace capstan {
namespace {

TEST(Const, GivesItsValueWithAnIdentityOfItsOwn) {
  const Tensor value = constant({1.f, 2.f});
  const Op op = find_op("Const");
  const Tensor output = op.call({}, {{"value", value}, {"dtype", DType::float32}});
  EXPECT_EQ(output.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_FALSE(output.is_same(value));
}

TEST(Const, NeedsAValueOfItsType) {
  const Op op = find_op("Const");
  EXPECT_THROW(op.call({}, {}), InvalidArgument);
  EXPECT_THROW(op.call({}, {{"value", constant(1)}, {"dtype", DType::float32}}), TypeError);
}

TEST(PreventGradient, NamesTheReason) {
  const Tensor x = constant(1.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = prevent_gradient(x, "frozen on purpose");
  try {
    tape.gradient(y, x);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const NotFound& error) {
    EXPECT_NE(std::string(error.what()).find("frozen on purpose"), std::string::npos) << error.what();
  }
}

TEST(IdentityN, PassesGradientsThrough) {
  const Tensor x = constant(2.f), y = constant(3.f);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(y);
  const Tensor both[] = {x, y};
  const std::vector<Tensor> copies = identity_n(both);
  const Tensor product = copies[0] * copies[1];
  EXPECT_EQ(tape.gradient(product, x).tensor().item<float>(), 3);
  EXPECT_EQ(tape.gradient(product, y).tensor().item<float>(), 2);
}

TEST(Partition, PublicFunctions) {
  const auto parts = dynamic_partition(constant({1, 2, 3}), constant({1, 0, 1}), 2);
  EXPECT_EQ(parts[1].to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 3}));
  const Tensor places[] = {constant({1}), constant({0, 2})};
  EXPECT_EQ(dynamic_stitch(places, std::vector{parts[0], parts[1]}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 2, 3}));
  const UniqueResult result = unique(constant({7, 5, 7}));
  EXPECT_EQ(result.values.to_vector<std::int32_t>(), (std::vector<std::int32_t>{7, 5}));
  EXPECT_EQ(result.indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(where(constant({0, 4})).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1}));
}

// 254 dimensions are the limit: one more is refused before anything is made.
TEST(Array, Report87_TooManyDimensions) {
  const Tensor most = reshape(constant(1.f), Shape(std::vector<std::int64_t>(Shape::kMaxRank, 1)));
  try {
    expand_dims(most, 0);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "ExpandDims: the result would have 255 dimensions; at most 254 are possible");
  }
  EXPECT_THROW(stack({most, most}), InvalidArgument);
  EXPECT_EQ(transpose(most).rank(), Shape::kMaxRank);
  EXPECT_EQ(tile(most, std::vector<std::int64_t>(Shape::kMaxRank, 1)).rank(), Shape::kMaxRank);
}

}  // namespace
}  // namespace capstan
