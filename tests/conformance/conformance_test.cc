// The conformance test: every sample row of every operation, against what real TensorFlow computed. One test per op.
// - values: eager outputs equal TensorFlow's;
// - inference: from partly known inputs the shape function says at least as much as TensorFlow's, and nothing false;
// - gradients: equal TensorFlow's, first and second order; in float64 also finite differences;
// - batching: the record's batching rule equals running the op once per member;
// - wrong arguments: the class of the error, and a message that begins with the op's name and says what came.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <typeinfo>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/random_ops.h"
#include "compare.h"
#include "finite_differences.h"
#include "golden_rows.h"
#include "op/runtime.h"
#include "tensor/integers.h"
#include "tensor/storage.h"
#include "tensor/symbolic.h"

namespace capstan::conformance {
namespace {

using RowsByOp = std::map<std::string, std::vector<GoldenRow>>;

const RowsByOp& all_rows() {
  static const RowsByOp rows = [] {
    RowsByOp by_op;
    for (const auto& file : std::filesystem::directory_iterator(CAPSTAN_GOLDEN_DIR "/ops"))
      if (file.path().extension() == ".gold")
        for (GoldenRow& row : read_golden_rows(file.path())) by_op[row.op].push_back(std::move(row));
    return by_op;
  }();
  return rows;
}

std::vector<Tensor> fresh(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(share_elements(tensor, tensor.shape()));
  return copies;
}

std::vector<Tensor> trainable(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> kept;
  for (const Tensor& tensor : tensors)
    if (tensor.is_defined() && is_trainable(tensor.dtype())) kept.push_back(tensor);
  return kept;
}

// ---- values ---------------------------------------------------------------------------------------------------------

void check_values(const Op& op, const GoldenRow& row) {
  if (op.def().facts.stateful) set_random_seed(0);  // rows of seeded ops hold the first draw of their stream
  const auto outputs = op.call_all(row.inputs, row.attributes);
  ASSERT_EQ(outputs.size(), row.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (row.outputs[i].is_defined())  // TensorFlow left the others uninitialized
      EXPECT_TRUE(nearly_equal(row.outputs[i], outputs[i], row.rtol, row.atol)) << "output " << i;
}

// ---- inference ------------------------------------------------------------------------------------------------------

bool has_known_value(const Tensor& tensor) { return is_integer(tensor.dtype()) || tensor.dtype() == DType::boolean; }

Tensor stand_in(const Tensor& tensor, int way) {
  if ((way == 1 || way == 3) && has_known_value(tensor)) return tensor;
  Shape shape = tensor.shape();
  if (way == 1 && shape.rank() > 0) shape.set_dim(0, Shape::kUnknown);
  if (way == 2) shape = Shape::unknown_dims(shape.rank());
  if (way == 3) shape = Shape::unknown();
  return new_symbolic_tensor(tensor.dtype(), shape);
}

std::vector<TensorSpec> infer(const Op& op, const std::vector<Tensor>& inputs, const AttributeMap& attributes) {
  return infer_outputs(op.def(), inputs, attributes);
}

::testing::AssertionResult says_at_least(const Shape& ours, const Shape& theirs) {
  if (!theirs.has_rank()) return ::testing::AssertionSuccess();
  bool enough = ours.rank() == theirs.rank();
  for (int i = 0; enough && i < ours.rank(); ++i) enough = theirs[i] < 0 || ours[i] == theirs[i];
  if (enough) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "TensorFlow infers " << theirs << ", the shape function " << ours;
}

void check_inference(const Op& op, const GoldenRow& row) {
  for (int way = 0; way < 4; ++way) {
    SCOPED_TRACE("inputs known in part, way " + std::to_string(way));
    std::vector<Tensor> inputs;
    for (const Tensor& input : row.inputs) inputs.push_back(stand_in(input, way));
    const auto specs = infer(op, inputs, row.attributes);
    ASSERT_EQ(specs.size(), row.outputs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!row.outputs[i].is_defined()) continue;
      EXPECT_EQ(specs[i].dtype, row.outputs[i].dtype());
      EXPECT_TRUE(specs[i].shape.is_compatible_with(row.outputs[i].shape()))
          << "inferred " << specs[i].shape << ", but the output has " << row.outputs[i].shape();
      if (!row.inferred[way].empty())
        EXPECT_TRUE(says_at_least(specs[i].shape, row.inferred[way][i])) << "output " << i;
    }
  }
}

// ---- gradients ------------------------------------------------------------------------------------------------------

double weighted_sum(const Op& op, const GoldenRow& row, const std::vector<Tensor>& inputs) {
  double sum = 0;
  const auto outputs = trainable(op.call_all(inputs, row.attributes));
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (std::int64_t i = 0; i < outputs[k].size(); ++i)
      sum += outputs[k].values<double>()[static_cast<std::size_t>(i)] *
             row.gradients->seeds[k].values<double>()[static_cast<std::size_t>(i)];
  return sum;
}

bool all_float64(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors)
    if (tensor.is_defined() && tensor.dtype() != DType::float64) return false;
  return true;
}

void check_finite_differences(const Op& op, const GoldenRow& row, const std::vector<Gradient>& gradients) {
  if (!row.gradients->check_finite || !all_float64(trainable(row.inputs)) || !all_float64(trainable(row.outputs)))
    return;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    if (row.inputs[i].dtype() != DType::float64 || !gradients[i].has_value()) continue;
    const Tensor numeric =
        finite_difference([&](const std::vector<Tensor>& at) { return weighted_sum(op, row, at); }, row.inputs, i);
    EXPECT_TRUE(nearly_equal(numeric, gradients[i].tensor(), 1e-6, 1e-6)) << "finite differences for input " << i;
  }
}

void expect_gradients(const std::vector<Tensor>& expected, const std::vector<Gradient>& got, const GoldenRow& row,
                      const char* order) {
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(std::string(order) + " gradient of input " + std::to_string(i));
    if (!expected[i].is_defined()) {
      // Zeros in place of nothing are the same answer, said less sharply.
      if (got[i].has_value()) EXPECT_TRUE(nearly_equal(zeros_like(got[i].tensor()), got[i].tensor()));
      continue;
    }
    if (!is_trainable(row.inputs[i].dtype())) continue;
    if (!got[i].has_value()) {
      EXPECT_TRUE(nearly_equal(expected[i], zeros_like(expected[i]))) << "there is none: " << got[i].reason();
      continue;
    }
    const double scale = order[0] == 's' ? 8 : 4;  // a few more roundings than the forward op has
    const double tolerance = scale * std::max(static_cast<double>(row.rtol), tolerance_of(expected[i].dtype()));
    EXPECT_TRUE(nearly_equal(expected[i], got[i].tensor(), tolerance, tolerance));
  }
}

void check_gradients(const Op& op, const GoldenRow& row) {
  if (!row.gradients) return;
  if (!row.gradients->is_registered) return;  // ours may have one where TensorFlow has none
  std::vector<Tensor> inputs = fresh(row.inputs);
  GradientTape outer({.persistent = true});
  outer.watch(trainable(inputs));
  std::vector<Gradient> first;
  {
    GradientTape tape({.persistent = true});
    tape.watch(trainable(inputs));
    const auto outputs = trainable(op.call_all(inputs, row.attributes));
    first = tape.gradient(outputs, inputs, {.output_gradients = row.gradients->seeds});
  }
  expect_gradients(row.gradients->first, first, row, "first");
  check_finite_differences(op, row, first);
  if (!row.gradients->has_second) return;
  std::vector<Tensor> targets;
  std::vector<Tensor> seeds;
  for (std::size_t i = 0, k = 0; i < first.size(); ++i) {
    const Tensor& expected = row.gradients->first[i];
    if (!expected.is_defined() || !is_trainable(expected.dtype())) continue;
    const Tensor& seed = row.gradients->second_seeds[k++];
    if (!first[i].has_value()) continue;
    targets.push_back(first[i].tensor());
    seeds.push_back(seed);
  }
  if (targets.empty()) return;
  expect_gradients(row.gradients->second, outer.gradient(targets, inputs, {.output_gradients = seeds}), row, "second");
}

// ---- batching -------------------------------------------------------------------------------------------------------

/// The elements of two tensors of one shape behind a new first dimension.
Tensor stacked(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  shape.insert(0, 2);
  Tensor both = new_tensor(a.dtype(), shape);
  const std::size_t bytes = static_cast<std::size_t>(a.size()) * dtype_size(a.dtype());
  std::memcpy(mutable_data(both), a.raw_data(), bytes);
  std::memcpy(static_cast<char*>(mutable_data(both)) + bytes, b.raw_data(), bytes);
  return both;
}

/// Another value of the same kind: the elements in reverse order, so that the members of the batch differ.
Tensor reversed(const Tensor& tensor) {
  Tensor result = new_tensor(tensor.dtype(), tensor.shape());
  const std::size_t size = dtype_size(tensor.dtype());
  const auto count = static_cast<std::size_t>(tensor.size());
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char*>(mutable_data(result)) + i * size,
                static_cast<const char*>(tensor.raw_data()) + (count - 1 - i) * size, size);
  return result;
}

/// Batches the inputs that `batch` says (bit i: input i) and compares with two runs.
void check_batch(const Op& op, const GoldenRow& row, unsigned batch) {
  const std::size_t count = row.inputs.size();
  std::vector<Tensor> first = row.inputs, second = row.inputs, together = row.inputs;
  auto is_batched = std::make_unique<bool[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!(batch >> i & 1)) continue;
    is_batched[i] = true;
    second[i] = reversed(first[i]);
    together[i] = stacked(first[i], second[i]);
  }
  const auto a = op.call_all(first, row.attributes), b = op.call_all(second, row.attributes);
  std::vector<InputRef> refs(together.begin(), together.end());
  std::shared_ptr<void> attributes;
  if (op.def().attributes) attributes = op.def().attributes().from_map(row.attributes, op.name());
  const OpCall call(op.def(), attributes.get(), refs, {});
  const auto batched = op.def().batching(call, std::span(is_batched.get(), count));
  ASSERT_EQ(batched.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double tolerance = 4 * std::max(static_cast<double>(row.rtol), tolerance_of(a[i].dtype()));
    EXPECT_TRUE(nearly_equal(stacked(a[i], b[i]), batched[i], tolerance, tolerance)) << "output " << i;
  }
}

void check_batching(const Op& op, const GoldenRow& row) {
  if (op.def().batching == by_loop || op.def().facts.stateful || row.inputs.empty()) return;
  std::vector<unsigned> floating_inputs;
  unsigned all = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(row.inputs.size(), 8); ++i)
    if (is_floating(row.inputs[i].dtype()) || is_complex(row.inputs[i].dtype())) {
      floating_inputs.push_back(1u << i);
      all |= 1u << i;
    }
  if (!all) return;
  for (unsigned only : floating_inputs) {
    SCOPED_TRACE("batched inputs, as bits: " + std::to_string(only));
    check_batch(op, row, only);
  }
  SCOPED_TRACE("all floating inputs batched");
  if (floating_inputs.size() > 1) check_batch(op, row, all);
}

// ---- wrong arguments ------------------------------------------------------------------------------------------------

/// The very class, not one derived from it.
bool is_class(const Error& error, const std::string& name) {
  if (name == "InvalidArgument") return typeid(error) == typeid(InvalidArgument);
  if (name == "TypeError") return typeid(error) == typeid(TypeError);
  if (name == "OutOfRange") return typeid(error) == typeid(OutOfRange);
  if (name == "Unimplemented") return typeid(error) == typeid(Unimplemented);
  if (name == "FailedPrecondition") return typeid(error) == typeid(FailedPrecondition);
  ADD_FAILURE() << "row expects an unknown class " << name;
  return false;
}

/// What a message can say of the call: shapes, types, numbers of the small inputs, attributes, the number of inputs.
std::vector<std::string> words_of_call(const GoldenRow& row) {
  std::vector<std::string> words{std::to_string(row.inputs.size())};
  for (const Tensor& input : row.inputs) {
    words.push_back(input.shape().to_string());
    words.emplace_back(dtype_name(input.dtype()));
    if (is_integer(input.dtype()) && input.dtype() != DType::uint64)
      for (std::int64_t value : integers_of(input)) words.push_back(std::to_string(value));
  }
  for (const auto& [name, value] : row.attributes) {
    words.push_back(to_string(value));
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
      for (std::int64_t each : *list) words.push_back(std::to_string(each));
  }
  return words;
}

::testing::AssertionResult says_what_came(const GoldenRow& row, const std::string& message) {
  const std::string rest = message.substr(std::min(message.size(), row.op.size()));  // names may hold numbers
  for (const std::string& word : row.mentions.empty() ? words_of_call(row) : std::vector{row.mentions})
    if (rest.find(word) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the message does not say what came: " << message;
}

void check_error(const Op& op, const GoldenRow& row) {
  try {
    op.call_all(row.inputs, row.attributes);
    ADD_FAILURE() << "nothing was thrown, expected " << row.error;
  } catch (const Error& error) {
    EXPECT_TRUE(is_class(error, row.error)) << "expected " << row.error << ", got: " << error.what();
    EXPECT_EQ(error.message().rfind(row.op, 0), 0u) << "the message does not name the op: " << error.what();
    EXPECT_TRUE(says_what_came(row, error.message()));
  }
}

class Conformance : public ::testing::TestWithParam<std::string> {};

TEST_P(Conformance, Rows) {
  const Op op = find_op(GetParam());
  for (const GoldenRow& row : all_rows().at(GetParam())) {
    SCOPED_TRACE(row.name);
    try {
      if (!row.error.empty()) {
        check_error(op, row);
        continue;
      }
      check_values(op, row);
      check_inference(op, row);
      check_gradients(op, row);
      check_batching(op, row);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) break;  // the first bad row says enough
  }
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& [name, rows] : all_rows()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, Conformance, ::testing::ValuesIn(op_names()),
                         [](const auto& info) { return info.param; });

// ---- completeness ---------------------------------------------------------------------------------------------------

// Ops without golden rows, each with its reason.
const std::map<std::string, std::string> kWithoutRows = [] {
  std::map<std::string, std::string> reasons;
  for (const char* name : {"VarHandleOp", "VarIsInitializedOp", "ReadVariableOp", "AssignVariableOp",
                           "AssignAddVariableOp", "AssignSubVariableOp", "VariableShape", "DestroyResourceOp",
                           "ResourceGather", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"})
    reasons[name] = "works on a handle: src/state/variable_test.cc";
  for (const char* name : {"ResourceApplyGradientDescent", "ResourceApplyMomentum", "ResourceApplyKerasMomentum",
                           "ResourceSparseApplyKerasMomentum", "ResourceApplyAdam"})
    reasons[name] = "works on handles: src/optim/optimizer_test.cc";
  for (const char* name :
       {"EmptyTensorList", "TensorListReserve", "TensorListPushBack", "TensorListPopBack", "TensorListLength",
        "TensorListElementShape", "TensorListGetItem", "TensorListSetItem", "TensorListStack", "TensorListFromTensor"})
    reasons[name] = "works on lists: src/ops/tensor_list_test.cc";
  for (const char* name : {"PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase",
                           "While", "StatelessWhile"})
    reasons[name] = "calls functions: src/function";
  for (const char* name : {"Placeholder", "PlaceholderWithDefault", "NoOp"}) reasons[name] = "stands in graphs only";
  reasons["Const"] = "has no inputs, its value is an attribute: src/ops/identity_test.cc";
  return reasons;
}();

// Ops without a gradient, where TensorFlow registers none either: a tape that needs one throws and names the op.
// Calls, branches and loops have theirs from their functions (src/function/forward_form.h).
const std::set<std::string_view> kWithoutGradient{
    "Mod",         "TruncateMod", "Unique",        "PartitionedCall", "StatefulPartitionedCall", "If",
    "StatelessIf", "Case",        "StatelessCase", "While",           "StatelessWhile"};

TEST(Completeness, EveryOpHasAGradientOrSaysWhyNot) {
  for (const Op& op : all_ops()) {
    const GradientFn& gradient = op.def().gradient;
    EXPECT_NE(bool(gradient) || gradient.is_not_differentiable(), kWithoutGradient.contains(op.name())) << op.name();
  }
}

// Types that TensorFlow's definitions (and so the signatures) allow, but for which it has no CPU kernel either: a call
// is Unimplemented and names the type.
TypeSet types_without_kernel(std::string_view op) {
  constexpr TypeSet complex = type_bit(DType::complex64) | type_bit(DType::complex128);
  constexpr TypeSet signed_ =
      type_bit(DType::int8) | type_bit(DType::int16) | type_bit(DType::int32) | type_bit(DType::int64);
  constexpr TypeSet integer =
      signed_ | type_bit(DType::uint8) | type_bit(DType::uint16) | type_bit(DType::uint32) | type_bit(DType::uint64);
  constexpr TypeSet handles = type_bit(DType::resource) | type_bit(DType::variant);
  constexpr TypeSet no_numbers = handles | type_bit(DType::boolean) | type_bit(DType::string);
  static const std::map<std::string_view, TypeSet> without{{"ArgMax", complex},
                                                           {"ArgMin", complex},
                                                           {"FloorDiv", complex},
                                                           {"Inv", signed_},
                                                           {"RealDiv", integer},
                                                           {"Reciprocal", signed_},
                                                           {"ResourceApplyAdam", integer},
                                                           {"ResourceApplyGradientDescent", integer},
                                                           {"ResourceApplyKerasMomentum", integer},
                                                           {"ResourceApplyMomentum", integer},
                                                           {"ResourceSparseApplyKerasMomentum", integer},
                                                           {"Round", complex},
                                                           {"ScatterNd", handles},
                                                           {"TensorScatterAdd", no_numbers},
                                                           {"TensorScatterSub", no_numbers},
                                                           {"TruncateDiv", complex},
                                                           {"Unique", complex | handles}};
  const auto found = without.find(op);
  return found == without.end() ? 0 : found->second;
}

TEST(Completeness, EveryPromisedTypeHasAKernel) {
  for (const Op& op : all_ops()) {
    const auto& runtime = runtime_of(op.def());
    if (runtime.signature.type_variables.empty()) continue;
    const TypeVariable& key = runtime.signature.type_variables[0];
    for (int i = 1; i < kDTypeCount; ++i)
      if (key.allowed >> i & 1)
        EXPECT_NE(runtime.kernels[static_cast<DType>(i)] != nullptr, bool(types_without_kernel(op.name()) >> i & 1))
            << op.name() << " promises " << key.name << " = " << dtype_name(static_cast<DType>(i));
  }
}

TEST(Completeness, EveryOpHasRowsSummaryShapeAndKernel) {
  for (const Op& op : all_ops()) {
    SCOPED_TRACE(std::string(op.name()));
    EXPECT_FALSE(op.def().summary.empty());
    EXPECT_EQ(op.def().summary.back(), '.');
    EXPECT_TRUE(op.def().shape);
    EXPECT_TRUE(has_any_kernel(op.def()));
    const bool has_rows = all_rows().contains(std::string(op.name()));
    EXPECT_NE(has_rows, kWithoutRows.contains(std::string(op.name()))) << "an op has rows, or a reason to have none";
  }
}

}  // namespace
}  // namespace capstan::conformance
