// Operations on handles, called as files call them: by name and attributes.
#include "ops/state.h"

#include <gtest/gtest.h>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "capstan/ops/slicing.h"
#include "capstan/state/variable.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

/// 0, 1, 2, ... in that shape.
Tensor counted(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return constant(values, shape);
}

Tensor gather_rows(const Variable& table, const Tensor& indices, std::int64_t batch_dims) {
  return find_op("ResourceGather").call({table.handle(), indices}, {{"batch_dims", batch_dims}});
}

void expect_refused(const Variable& table, const Shape& indices, std::int64_t batch_dims, const char* mention) {
  try {
    const Tensor rows = gather_rows(table, zeros(indices, DType::int32), batch_dims);
    ADD_FAILURE() << "nothing was thrown, got " << rows;
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(mention), std::string::npos) << error.what();
  }
}

// Declared shapes are checked before the call; of an undeclared one only the kernel knows.
class ResourceGather : public ::testing::TestWithParam<bool> {
 protected:
  static Variable table(const Shape& shape) {
    return GetParam() ? Variable(counted(shape)) : Variable(counted(shape), {.shape = Shape::unknown()});
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, ResourceGather, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Declared" : "Undeclared"; });

TEST_P(ResourceGather, BatchDimensionsPairRows) {
  EXPECT_EQ(gather_rows(table({2, 5}), constant({{0, 4}, {1, 0}}), 1).to_vector<float>(), (Floats{0, 4, 6, 5}));
  const Tensor deep = gather_rows(table({2, 2, 3}), constant({{2, 0}, {1, 2}}), 2);
  EXPECT_EQ(deep.to_vector<float>(), (Floats{2, 3, 7, 11}));
  EXPECT_EQ(deep.shape(), (Shape{2, 2}));
  EXPECT_EQ(gather_rows(table({0, 5}), zeros(Shape{0, 3}, DType::int32), 1).shape(), (Shape{0, 3}));
}

TEST_P(ResourceGather, BatchSizesMustAgree) {
  expect_refused(table({4, 5}), {1, 2}, 1, "[1,2]");
  expect_refused(table({2, 5}), {3, 1}, 1, "[3,1]");
  expect_refused(table({2, 5}), {3, 4}, 1, "[3,4]");
  expect_refused(table({2, 3, 4}), {2, 4}, 2, "[2,4]");
}

TEST_P(ResourceGather, BatchDimensionsMustBeThere) {
  expect_refused(table({2, 5}), {2, 3}, -1, "-1");
  expect_refused(table({2, 5}), {2, 3}, 2, "'batch_dims'");
  expect_refused(table({2, 5}), {2, 3}, 5, "'batch_dims'");
  expect_refused(table({2, 5}), {2, 3}, std::int64_t{1} << 32, "4294967296");
  expect_refused(table({2, 5}), {}, 1, "'batch_dims'");
}

TEST_P(ResourceGather, GradientHasTheShapeOfTheValue) {
  const Variable rows = table({3, 2});
  GradientTape tape;
  const Tensor y = reduce_sum(rows.sparse_read(constant({2, 0})) * constant({{1.f, 2.f}, {3.f, 4.f}}));
  const Gradient gradient = tape.gradient(y, rows);
  ASSERT_TRUE(gradient.is_slices());
  EXPECT_EQ(gradient.tensor().to_vector<float>(), (Floats{3, 4, 0, 0, 1, 2}));
}

TEST(ResourceGatherGradient, OfAPartlyDeclaredShape) {
  const Variable rows(counted({3, 2}), {.shape = Shape{-1, 2}});
  GradientTape tape;
  const Tensor y = reduce_sum(rows.sparse_read(constant({1})));
  EXPECT_EQ(tape.gradient(y, rows).tensor().to_vector<float>(), (Floats{0, 0, 1, 1, 0, 0}));
}

TEST(DestroyResource, TheValueIsGone) {
  const Variable doomed(counted({2}));
  const Op destroy = find_op("DestroyResourceOp");
  const auto destroyed = [&](bool ignore) {
    return destroy.call_all(std::vector{doomed.handle()}, {{"ignore_lookup_error", ignore}});
  };
  destroyed(false);
  EXPECT_FALSE(doomed.is_initialized());
  EXPECT_THROW(doomed.value(), FailedPrecondition);
  EXPECT_THROW(doomed.assign_add(constant({1.f, 1.f})), FailedPrecondition);
  EXPECT_NO_THROW(destroyed(true));
  EXPECT_THROW(destroyed(false), NotFound);
  doomed.assign(constant({3.f, 4.f}));
  EXPECT_EQ(doomed.value().to_vector<float>(), (Floats{3, 4}));
}

TEST(Handle, IsOneElement) {
  const Variable table(counted({3, 2}));
  const Tensor none = slice(reshape(table.handle(), Shape{1}), {Range(0, 0)});
  ASSERT_EQ(none.shape(), (Shape{0}));
  for (const std::string op : {"ReadVariableOp", "VariableShape", "VarIsInitializedOp"}) {
    try {
      find_op(op).call({none}, {});
      ADD_FAILURE() << op << " threw nothing";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.message(), op + ": a handle must have exactly one element, got shape [0]");
    }
  }
}

}  // namespace
}  // namespace capstan
