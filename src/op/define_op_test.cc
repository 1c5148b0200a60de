// Operations of one's own: what a record may say, and what a call of it refuses.
#include <gtest/gtest.h>

#include "base/memory.h"
#include "capstan/base/error.h"
#include "capstan/op/op.h"

namespace capstan {
namespace {

template <class Function>
void expect_refused(Function&& function, const char* mention) {
  try {
    function();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(mention), std::string::npos) << error.what();
  }
}

constexpr auto kAdd = elementwise<float, double>([](auto x, auto y) { return x + y; });

// ---- the elementwise kernels ----------------------------------------------------------------------------------------

TEST(Elementwise, NeedsInputsOfOneShape) {
  const Op op = define_op({.signature = "TestAdd(x: T, y: T) -> (z: T); T: {float, double}",
                           .summary = "x + y.",
                           .shape = shape::broadcast,
                           .cpu = kAdd});
  EXPECT_EQ(op(constant({1.f, 2.f}), constant({3.f, 4.f})).to_vector<float>(), (std::vector<float>{4, 6}));
  expect_refused([&] { op(constant({1.f, 2.f}), constant(1.f)); }, "[]");
  expect_refused([&] { op(constant(1.f), constant({1.f, 2.f})); }, "TestAdd: an elementwise kernel");
}

TEST(Elementwise, NeedsOneElementType) {
  const Op narrow = define_op({.signature = "TestNarrow(x: T) -> (y: bool); T: {float, double}",
                               .summary = "The output's elements are smaller than the kernel's.",
                               .shape = shape::unchanged,
                               .cpu = elementwise<float, double>([](auto x) { return -x; })});
  expect_refused([&] { narrow(constant({1.f, 2.f})); }, "bool");
  const Op mixed = define_op({.signature = "TestMixed(x: T, y: U) -> (z: T); T: {float, double}; U: {float, double}",
                              .summary = "Two types.",
                              .shape = shape::unchanged,
                              .cpu = kAdd});
  expect_refused([&] { mixed(constant({1., 2.}), constant({1.f, 2.f})); }, "float32 for input 1");
}

TEST(Elementwise, NeedsTheArgumentsOfItsFunction) {
  const Op op = define_op({.signature = "TestTooFew(x: T) -> (y: T); T: {float, double}",
                           .summary = "A function of two arguments for an op of one.",
                           .shape = shape::unchanged,
                           .cpu = kAdd});
  expect_refused([&] { op(constant({1.f})); }, "2 arguments");
}

// ---- records that cannot work ---------------------------------------------------------------------------------------

Op defined(std::string_view signature, const AttributeSchema& (*fields)() = nullptr) {
  return define_op({.signature = signature, .summary = "Nothing.", .shape = shape::unknown, .attributes = fields});
}

struct Wrong {
  std::string T;
  float N = 2;
  template <class Field>
  static void fields(Field&& field) {
    field("T", &Wrong::T);
    field("N", &Wrong::N);
  }
};

TEST(DefineOp, NinthTypeIsRefused) {
  std::string signature = "TestNine(";
  for (int i = 0; i < 9; ++i) signature += (i ? ", x" : "x") + std::to_string(i) + ": T" + std::to_string(i);
  signature += ") -> ()";
  for (int i = 0; i < 9; ++i) signature += "; T" + std::to_string(i) + ": any";
  expect_refused([&] { defined(signature); }, "more than 8 types");
}

TEST(DefineOp, MixedOutputsNeedTheirInputs) {
  expect_refused([] { defined("TestM1(x: T) -> (y: U...); T: any"); }, "mixed list 'y'");
  expect_refused([] { defined("TestM2(x: N*T) -> (y: U...); T: any"); }, "mixed list 'y'");
  expect_refused([] { defined("TestM3(x: U...) -> (z: int32, y: U...)"); }, "mixed list 'y'");
  expect_refused([] { defined("TestM4(x: U..., a: N*T) -> (y: U...); T: any"); }, "mixed list 'y'");
  expect_refused([] { defined("TestM5(x: N*T) -> (y: N*T, z: N*T); T: any"); }, "more than one list");
}

TEST(DefineOp, AttributesAreOfTheKindThatTheSignatureUses) {
  expect_refused([] { defined("TestK1() -> (y: T); T: any", attributes<Wrong>); }, "'T' must be a type");
  expect_refused([] { defined("TestK2(x: U) -> (y: N*U); U: any", attributes<Wrong>); }, "'N' must be an integer");
  expect_refused([] { defined("TestK3() -> (y: T); T: any"); }, "no input has type 'T'");
  expect_refused([] { defined("TestK4(x: T) -> (y: N*T); T: any"); }, "how long the list 'y'");
}

TEST(Apply, TooFewInputsForAListOfOutputs) {
  expect_refused([] { find_op("ConcatOffset").call_all({}, {}); }, "ConcatOffset: takes 2 arguments, got 0");
}

// ---- memory
// -----------------------------------------------------------------------------------------------------------

template <std::int64_t kCount>
void greedy_kernel(KernelContext& context) {
  const std::vector<double> all(static_cast<std::size_t>(kCount));
  *context.make_output<float>(0) = static_cast<float>(all[0]);
}

TEST(Apply, AKernelWithoutMemoryIsATypedError) {
  if (CAPSTAN_POOLS_OFF) GTEST_SKIP() << "sanitizers end the process where memory is refused";
  const auto greedy = [](std::string_view signature, Kernel kernel) {
    return define_op({.signature = signature,
                      .summary = "Asks for more memory than there is.",
                      .shape = shape::scalar,
                      .cpu = KernelSet{}.set(DType::float32, kernel)});
  };
  for (const Op& op : {greedy("TestGreedy(x: T) -> (y: T); T: {float}", greedy_kernel<std::int64_t{1} << 55>),
                       greedy("TestGreedier(x: T) -> (y: T); T: {float}", greedy_kernel<std::int64_t{1} << 62>)}) {
    try {
      op(constant(1.f));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ResourceExhausted& error) {
      EXPECT_EQ(error.message().rfind(std::string(op.name()) + ": out of memory", 0), 0u) << error.what();
    }
  }
}

TEST(Apply, AnOutputThatDoesNotFitNamesTheOp) {
  try {
    find_op("Fill").call({constant(std::vector<std::int64_t>{std::int64_t{1} << 50}), constant(1.f)}, {});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ResourceExhausted& error) {
    EXPECT_EQ(error.message().rfind("Fill: ", 0), 0u) << error.what();
  }
}

}  // namespace
}  // namespace capstan
