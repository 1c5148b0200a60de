// Catalogue T, section 6: gradients by the variables that a function reads.
#include "capstan/state/implicit_gradient.h"

#include "autodiff/test_tape.h"

namespace capstan {
namespace {

TEST(ImplicitGradient, T136_PairsInTheOrderOfCreation) {
  Variable a(2.f), b(3.f);
  const auto pairs = implicit_gradient([&](Tensor x) { return b * x + a; })(scalar(5));
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(pairs[0].second.is_same(a));
  EXPECT_TRUE(pairs[1].second.is_same(b));
  expect_value(pairs[0].first, 1);
  expect_value(pairs[1].first, 5);
}

TEST(ImplicitGradient, T136_NoVariables) {
  Variable fixed(2.f, {.trainable = false});
  expect_error<InvalidArgument>([&] { implicit_gradient([&] { return fixed.value(); })(); },
                                {"no trainable variables"});
}

TEST(ImplicitGradient, T137_TheVariableItself) {
  Variable x(1.f);
  const auto [value, pairs] = implicit_value_and_gradient([&] { return x.value() + 2 + 3; })();
  EXPECT_EQ(value.item<float>(), 6);
  expect_value(pairs.at(0).first, 1);
  EXPECT_TRUE(pairs.at(0).second.is_same(x));
}

TEST(ImplicitGradient, Training) {
  Variable w(4.f);
  for (int i = 0; i < 50; ++i)
    for (const auto& [gradient, variable] : implicit_gradient([&] { return square(w - 1); })())
      variable.assign_sub(0.2f * gradient.tensor());
  EXPECT_NEAR(w.value().item<float>(), 1, 1e-5);
}

}  // namespace
}  // namespace capstan
