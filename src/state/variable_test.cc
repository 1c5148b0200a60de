// Catalogue V, sections A, B, E and G: creation, reading and assigning, aliasing, the tape.
#include "capstan/state/variable.h"

#include <gtest/gtest.h>

#include <thread>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/reduce.h"
#include "ops/state.h"
#include "ops/variable_resource.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

Floats floats(const Tensor& tensor) { return tensor.to_vector<float>(); }

template <class Exception, class Function>
void expect_error(Function&& function, std::initializer_list<const char*> mentions) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Exception& error) {
    for (const char* each : mentions)
      EXPECT_NE(std::string(error.what()).find(each), std::string::npos) << "no '" << each << "' in: " << error.what();
  }
}

// ---- A. creation and metadata ---------------------------------------------------------------------------------------

TEST(Variable, V001_TypeFollowsTheInitialValue) {
  Variable v(1.0f);
  EXPECT_EQ(v.dtype(), DType::float32);
  EXPECT_EQ(v.shape(), Shape{});
  EXPECT_EQ(v.value().item<float>(), 1);
  EXPECT_EQ(Variable(3).dtype(), DType::int32);
}

TEST(Variable, V002_TypeGiven) {
  Variable v(1, {.dtype = DType::float32});
  EXPECT_EQ(v.value().item<float>(), 1);
  EXPECT_EQ(v.value().dtype(), DType::float32);
}

TEST(Variable, V003_InitialValueFromAFunctionCalledOnce) {
  int calls = 0;
  Variable v([&] { return ++calls, constant(1); });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(v.dtype(), DType::int32);
  EXPECT_EQ(Variable([] { return constant(1); }, {.dtype = DType::float32}).dtype(), DType::float32);
}

TEST(Variable, V004_NoInitialValue) {
  expect_error<InvalidArgument>([] { Variable v{Tensor()}; }, {"initial_value"});
}

TEST(Variable, V008_DefaultNameHasTheOutputSuffix) { EXPECT_EQ(Variable(1.f).name(), "Variable:0"); }

TEST(Variable, V009_EqualNamesStayIndependent) {
  Variable a(1.f, {.name = "a"}), b(2.f, {.name = "a"});
  EXPECT_EQ(a.name(), "a:0");
  EXPECT_EQ(b.name(), "a:0");
  a.assign(5.f);
  EXPECT_EQ(b.value().item<float>(), 2);
}

TEST(Variable, V013_DeclaredShapeMustFit) {
  expect_error<InvalidArgument>([] { Variable v(zeros(Shape{3}), {.shape = Shape{4}}); }, {"not compatible"});
}

TEST(Variable, V014_UnknownShapeTakesAny) {
  Variable v(zeros(Shape{1, 1}), {.shape = Shape::unknown()});
  v.assign(zeros(Shape{2, 2}));
  EXPECT_EQ(v.value().shape(), (Shape{2, 2}));
  EXPECT_FALSE(v.shape().has_rank());
}

TEST(Variable, V015_TrainableByDefaultUnlessOnRead) {
  EXPECT_TRUE(Variable(1.f).trainable());
  EXPECT_FALSE(Variable(1.f, {.synchronization = VariableSynchronization::on_read}).trainable());
}

TEST(Variable, V017_NumbersOnTheWire) {
  EXPECT_EQ(static_cast<int>(VariableSynchronization::on_read), 3);
  EXPECT_EQ(static_cast<int>(VariableSynchronization::on_write), 2);
  EXPECT_EQ(static_cast<int>(VariableAggregation::only_first_replica), 3);
  EXPECT_EQ(static_cast<int>(VariableAggregation::mean), 2);
}

TEST(Variable, V021_BoolScatterUpdate) {
  Variable v(constant({false, true, false}));
  v.scatter_update({constant({true, true, true}), constant({0, 1, 2}), {}});
  EXPECT_EQ(v.value().to_vector<bool>(), (std::vector<bool>{true, true, true}));
}

TEST(Variable, V022_StringScatterUpdate) {
  Variable v(constant({{"a"}}));
  v.scatter_update({constant({{"b"}}), constant({0}), {}});
  EXPECT_EQ(v.value().values<std::string>()[0], "b");
  v.scatter_update({constant("c"), constant({0}), {}});
  EXPECT_EQ(v.value().values<std::string>()[0], "c");
}

TEST(Variable, V023_CreationInitializes) { EXPECT_TRUE(Variable(1.f).is_initialized()); }

TEST(Variable, V028_ScalarAsCondition) { EXPECT_FALSE(static_cast<bool>(Variable(constant(false)).value())); }

TEST(Variable, V031_DebugText) {
  const std::string text = Variable(1, {.name = "Variable"}).to_string();
  for (const char* part : {"'Variable:0'", "[]", "int32", "1"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Variable, V032_CloneIsIndependent) {
  Variable v(1.f, {.name = "v", .trainable = false});
  Variable copy = v.clone();
  EXPECT_EQ(copy.name(), "v:0");
  EXPECT_FALSE(copy.trainable());
  copy.assign(2.f);
  EXPECT_EQ(v.value().item<float>(), 1);
  Variable same = v;
  EXPECT_TRUE(same.is_same(v));
}

TEST(Variable, V034_FromHandleIsTheSameVariable) {
  Variable v(1.f);
  Variable again = Variable::from_handle(v.handle());
  EXPECT_TRUE(again.is_same(v));
  EXPECT_TRUE(again.handle().is_same(v.handle()));
  EXPECT_EQ(again.value().item<float>(), 1);
  expect_error<TypeError>([] { Variable::from_handle(constant(1)); }, {"resource"});
}

// ---- B. reading and assigning ---------------------------------------------------------------------------------------

TEST(Variable, V039_AssignChains) {
  Variable v(1.f);
  v.assign(2.f).assign(3.f);
  EXPECT_EQ(v.value().item<float>(), 3);
  v.assign_add(1.f).assign_add(1.f);
  EXPECT_EQ(v.value().item<float>(), 5);
  v.assign_sub(1.f).assign_sub(1.f);
  EXPECT_EQ(v.value().item<float>(), 3);
}

TEST(Variable, V046_CompoundAssignmentDoesNotBroadcast) {
  Variable v(zeros(Shape{4}));
  expect_error<InvalidArgument>([&] { v.assign_add(constant(1.f)); }, {"shapes must be equal"});
  EXPECT_EQ(floats(v.value()), (Floats{0, 0, 0, 0}));
}

TEST(Variable, V047_WrongTypeNamesBoth) {
  Variable v(1);
  expect_error<InvalidArgument>([&] { v.assign(constant(1.f)); }, {"wrong dtype", "int32", "float"});
  const VariableAttributes attributes{DType::float32};
  expect_error<InvalidArgument>([&] { apply(read_variable_op, {v.handle()}, &attributes); },
                                {"wrong dtype", "int32", "float32"});
}

TEST(Variable, V049_NumbersConvertTensorsDoNot) {
  Variable v(1.f);
  v.assign_add(1);
  EXPECT_EQ(v.value().item<float>(), 2);
  expect_error<TypeError>([&] { v.assign(constant(float16(1.f))); }, {"float32", "float16"});
}

TEST(Variable, V050_ReadsSeeTheWritesBeforeThem) {
  Variable v(0.f);
  v.assign(1.f);
  Tensor a = v.value();
  v.assign(2.f);
  Tensor b = v.value();
  EXPECT_EQ(a.item<float>(), 1);
  EXPECT_EQ(b.item<float>(), 2);
}

TEST(Variable, V052_ReadBeforeAssignment) {
  const VarHandleAttributes handle_attributes{
      .container = "", .shared_name = "lost", .dtype = DType::float32, .shape = {}};
  const Tensor handle = apply(var_handle_op, {}, &handle_attributes);
  const VariableAttributes attributes{DType::float32};
  expect_error<FailedPrecondition>([&] { apply(read_variable_op, {handle}, &attributes); },
                                   {"lost", "deleted", "uninitialized", "container"});
}

TEST(Variable, V058_OperatorsActOnTheValue) {
  Variable v(1.f);
  EXPECT_EQ((v + v).item<float>(), 2);
  Variable a(constant({1, 2})), b(a.value() * 2);
  b.assign_add(a);
  EXPECT_EQ(b.value().to_vector<int>(), (std::vector<int>{3, 6}));
  b.assign_sub(a);
  EXPECT_EQ(b.value().to_vector<int>(), (std::vector<int>{2, 4}));
}

TEST(Variable, V059_VariableShape) {
  Variable v(zeros(Shape{2}));
  EXPECT_EQ(apply(variable_shape_op, {v.handle()}).to_vector<int>(), (std::vector<int>{2}));
}

TEST(Variable, V600_NoValueIsFailedPrecondition) {
  const VarHandleAttributes attributes{
      .container = "", .shared_name = "empty", .dtype = DType::float32, .shape = Shape{}};
  Variable v = Variable::from_handle(apply(var_handle_op, {}, &attributes));
  EXPECT_FALSE(v.is_initialized());
  EXPECT_THROW(v.value(), FailedPrecondition);
  EXPECT_THROW(v.assign_add(1.f), FailedPrecondition);
  v.assign(2.f);
  EXPECT_EQ(v.value().item<float>(), 2);
}

// ---- E. aliasing, copy-on-write, copy-on-read, locking --------------------------------------------------------------

Tensor many(float value) { return fill(Shape{100}, constant(value)); }  // more than fits inside a tensor object

TEST(Variable, V100_ReadIsASnapshotWithoutACopy) {
  Variable v(many(1));
  Tensor before = v.value();
  EXPECT_EQ(before.raw_data(), v.value().raw_data());
  v.assign_add(many(1));
  EXPECT_EQ(floats(before)[99], 1);
  EXPECT_EQ(floats(v.value())[99], 2);
}

TEST(Variable, V101_UpdateInPlaceWithoutReaders) {
  Variable v(many(1));
  const void* address = v.value().raw_data();
  v.assign_add(many(1));
  EXPECT_EQ(v.value().raw_data(), address);
}

TEST(Variable, V103_SparseAccessTurnsToCopyOnRead) {
  Variable v(many(1));
  Tensor snapshot = v.value();
  v.scatter_add({constant({5.f}), constant({0}), {}});
  EXPECT_EQ(floats(snapshot)[0], 1);
  EXPECT_EQ(floats(v.value())[0], 6);
}

TEST(Variable, V104_CopyOnReadThenUpdatesInPlace) {
  Variable v(many(1));
  v.scatter_add({constant({5.f}), constant({0}), {}});
  Tensor read = v.value();
  EXPECT_NE(read.raw_data(), v.value().raw_data());
  v.scatter_add({constant({1.f}), constant({0}), {}});
  EXPECT_EQ(floats(read)[0], 6);
  EXPECT_EQ(floats(v.value())[0], 7);
}

TEST(Variable, V107_ConcurrentAddsAllCount) {
  Variable v(0.f);
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) v.assign_add(1.f);
  };
  std::thread a(add), b(add);
  a.join();
  b.join();
  EXPECT_EQ(v.value().item<float>(), 2000);
}

// ---- C, as far as the sparse update of program 7 needs it -----------------------------------------------------------

TEST(Variable, V062_RowScatter) {
  Variable v(constant({{1}}));
  v.scatter_add({constant({{2}}), constant({0}), {}});
  EXPECT_EQ(v.value().to_vector<int>()[0], 3);
  v.scatter_sub({constant(1), constant({0}), {}});
  EXPECT_EQ(v.value().to_vector<int>()[0], 2);
}

TEST(Variable, V065_RepeatedRowsAddUp) {
  Variable v(constant({0.f, 0.f}));
  v.scatter_add({constant({1.f, 2.f}), constant({1, 1}), {}});
  EXPECT_EQ(floats(v.value()), (Floats{0, 3}));
  v.scatter_update({constant({4.f, 5.f}), constant({0, 0}), {}});
  EXPECT_EQ(floats(v.value()), (Floats{5, 3}));
}

TEST(Variable, V067_IndexOutsideChangesNothing) {
  Variable v(constant({1.f, 2.f}));
  for (int bad : {2, -1})
    expect_error<InvalidArgument>(
        [&] {
          v.scatter_add({constant({9.f, 9.f}), constant({0, bad}), {}});
        },
        {"indices[1]", "[0, 2)"});
  EXPECT_EQ(floats(v.value()), (Floats{1, 2}));
}

TEST(Variable, V071_SparseRead) {
  Variable v(constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  EXPECT_EQ(floats(v.sparse_read(constant({2, 0}))), (Floats{5, 6, 1, 2}));
  EXPECT_EQ(gather(v, constant({{0}, {1}})).shape(), (Shape{2, 1, 2}));
}

TEST(Variable, V075_GatherChecks) {
  Variable scalar(1.f), v(constant({1.f, 2.f}));
  expect_error<InvalidArgument>([&] { gather(scalar, constant({0})); }, {"at least 1 dimension"});
  expect_error<InvalidArgument>([&] { gather(v, constant({2})); }, {"indices[0] = 2", "[0, 2)"});
}

// ---- G. the tape ----------------------------------------------------------------------------------------------------

TEST(Variable, V121_ReadingWatchesTrainableVariables) {
  Variable v(3.f), frozen(3.f, {.trainable = false});
  GradientTape tape({.persistent = true});
  Tensor y = v * v, z = frozen * frozen;
  EXPECT_EQ(tape.gradient(y, v).tensor().item<float>(), 6);
  EXPECT_FALSE(tape.gradient(z, frozen).has_value());
}

TEST(Variable, V125_GradientOfSparseReadIsSlices) {
  Variable v(constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  GradientTape tape;
  Tensor y = reduce_sum(v.sparse_read(constant({{2, 0}, {2, 2}})));
  Gradient gradient = tape.gradient(y, v);
  ASSERT_TRUE(gradient.is_slices());
  EXPECT_EQ(gradient.slices().values.shape(), (Shape{4, 2}));
  EXPECT_EQ(gradient.slices().indices.to_vector<int>(), (std::vector<int>{2, 0, 2, 2}));
  EXPECT_EQ(gradient.slices().dense_shape.to_vector<int>(), (std::vector<int>{3, 2}));
}

TEST(Variable, V130_NonTrainableCanBeWatched) {
  Variable v(2.f, {.trainable = false});
  GradientTape tape;
  tape.watch(v);
  Tensor y = v * v * v;
  EXPECT_EQ(tape.gradient(y, v).tensor().item<float>(), 12);
}

// An assignment gives the variable back and not its value: nothing is read unless somebody asks.
TEST(Variable, V040_AssignmentsReadNothing) {
  const Variable v(1.f);
  GradientTape tape;
  EXPECT_TRUE(v.assign(2.f).assign_add(1.f).assign_sub(2.f).is_same(v));
  EXPECT_TRUE(tape.watched_variables().empty());
}

TEST(Variable, V051_TheIdentityOfAHandleIsTheVariable) {
  const Variable v(constant({1.f, 2.f}), {.name = "v"});
  const Variable same = Variable::from_handle(identity(v.handle()));
  same.assign(constant({3.f, 4.f}));
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(same.dtype(), DType::float32);
  EXPECT_EQ(same.shape(), (Shape{2}));
}

TEST(Variable, FoundByItsHandleItIsTheSame) {
  const Variable v(1.f,
                   {.synchronization = VariableSynchronization::on_write, .aggregation = VariableAggregation::mean});
  GradientTape tape;
  const Tensor y = v * 2;
  const auto watched = tape.watched_variables();
  ASSERT_EQ(watched.size(), 1u);
  EXPECT_EQ(watched[0].synchronization(), VariableSynchronization::on_write);
  EXPECT_EQ(watched[0].aggregation(), VariableAggregation::mean);
  EXPECT_TRUE(watched[0].trainable());
}

}  // namespace
}  // namespace capstan
