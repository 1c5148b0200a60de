// Random streams, against numbers that TensorFlow 2.21 gave.
#include <gtest/gtest.h>

#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/random_ops.h"

namespace capstan {
namespace {

using Floats = std::vector<float>;

using Words = std::vector<std::uint64_t>;

template <class Word>
Words bits(const Tensor& tensor) {
  const auto* words = static_cast<const Word*>(tensor.raw_data());
  return Words(words, words + tensor.size());
}

Floats drawn(std::int32_t count, DType dtype = DType::float32) {
  const Tensor shape = constant({count});
  return cast(find_op("RandomUniform")
                  .call({shape}, {{"seed", std::int64_t{1}}, {"seed2", std::int64_t{2}}, {"dtype", dtype}}),
              DType::float32)
      .to_vector<float>();
}

// Each set of attributes has a stream of its own, which goes on from call to call whatever the shape.
TEST(Random, SeededOpsContinueTheirStream) {
  set_random_seed(0);
  EXPECT_EQ(drawn(2), (Floats{0.406396746635437f, 0.8575996160507202f}));
  EXPECT_EQ(drawn(2), (Floats{0.603865385055542f, 0.5261081457138062f}));
  EXPECT_EQ(drawn(2, DType::float64), (Floats{0.2511744980841868f, 0.44316677020093853f}));
  EXPECT_EQ(drawn(2), (Floats{0.004966139793395996f, 0.6021978855133057f}));
  EXPECT_EQ(drawn(2), (Floats{0.49945497512817383f, 0.06284701824188232f}));
  EXPECT_EQ(drawn(2), (Floats{0.08936464786529541f, 0.9779253005981445f}));
  EXPECT_EQ(drawn(3), (Floats{0.4056532382965088f, 0.4999755620956421f, 0.7835102081298828f}));
  EXPECT_EQ(drawn(3), (Floats{0.8225070238113403f, 0.8668903112411499f, 0.3873094320297241f}));
  EXPECT_EQ(drawn(2), (Floats{0.033739566802978516f, 0.42535221576690674f}));
}

TEST(Random, SetRandomSeedRestartsTheStreams) {
  const Floats first = (set_random_seed(5), drawn(2));
  EXPECT_NE(drawn(2), first);
  set_random_seed(5);
  EXPECT_EQ(drawn(2), first);
}

#if defined(__GLIBC__)
TEST(Random, NormalNumbersHaveTensorFlowsBits) {
  EXPECT_EQ(bits<std::uint32_t>(stateless_normal(Shape{8}, {0, 7})),
            (Words{0xbed897fc, 0x3e632329, 0x3f8a1d80, 0xc011ee4d, 0xbe9a6bbf, 0xbff78e6d, 0xbf57c30e, 0x3ee90e0b}));
  EXPECT_EQ(bits<std::uint32_t>(stateless_truncated_normal(Shape{8}, {0, 7})),
            (Words{0xbed897fc, 0x3e632329, 0x3f8a1d80, 0xbe9a6bbf, 0xbf3330b0, 0xbfebb6cb, 0xbf356d70, 0xbe9f5e6b}));
  EXPECT_EQ(bits<std::uint16_t>(stateless_normal(Shape{8}, {0, 7}, {.dtype = DType::bfloat16})),
            (Words{0xbed9, 0x3e63, 0x3f8a, 0xc012, 0xbe9a, 0xbff8, 0xbf58, 0x3ee9}));
}
#endif

// The width of the interval is a difference in the element type.
TEST(Random, UniformOverAnIntervalHasTensorFlowsBits) {
  EXPECT_EQ(
      bits<std::uint32_t>(stateless_uniform(Shape{5}, {1, 2}, {.minval = 1, .maxval = 1.1, .dtype = DType::float32})),
      (Words{0x3f8acdd1, 0x3f82754b, 0x3f8cc06d, 0x3f820d8f, 0x3f837b42}));
  EXPECT_EQ(
      bits<std::uint64_t>(stateless_uniform(Shape{5}, {1, 2}, {.minval = 1, .maxval = 1.1, .dtype = DType::float64})),
      (Words{0x3ff13437a3f5a87f, 0x3ff18d39689ba729, 0x3ff0480ecb551c94, 0x3ff15e6f8380d587, 0x3ff0d2ddeff448f8}));
  EXPECT_EQ(
      bits<std::uint16_t>(stateless_uniform(Shape{5}, {1, 2}, {.minval = 1, .maxval = 1.1, .dtype = DType::float16})),
      (Words{0x3c37, 0x3c18, 0x3c06, 0x3c5b, 0x3c0f}));
  EXPECT_EQ(
      bits<std::uint16_t>(stateless_uniform(Shape{5}, {1, 2}, {.minval = 1, .maxval = 1.1, .dtype = DType::bfloat16})),
      (Words{0x3f84, 0x3f8c, 0x3f86, 0x3f82, 0x3f82}));
}

TEST(Random, WholeNumbersAreTensorFlows) {
  const Tensor low = constant(-5), high = constant(1000);
  EXPECT_EQ(stateless_uniform_int(Shape{5}, {1, 2}, low, high).to_vector<int>(),
            (std::vector<int>{710, 819, 829, 169, 137}));
}

}  // namespace
}  // namespace capstan
