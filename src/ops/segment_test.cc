#include "capstan/ops/segment.h"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"

namespace capstan {
namespace {

using Complex = std::complex<float>;

/// The largest and the smallest element of a segment without rows.
std::vector<float> extremes_of_nothing(DType dtype) {
  const Tensor rows = zeros({1}, dtype), ids = constant({1}), count = constant(2);
  const auto first = [&](const Tensor& x) { return cast(x, DType::float32).to_vector<float>()[0]; };
  return {first(unsorted_segment_max(rows, ids, count)), first(unsorted_segment_min(rows, ids, count))};
}

TEST(Segment, ExtremesOfNoRowsAreFinite) {
  constexpr float kLargest = std::numeric_limits<float>::max(), kLargestBrain = 0x1.fep127f;
  EXPECT_EQ(extremes_of_nothing(DType::float16), (std::vector<float>{-65504, 65504}));
  EXPECT_EQ(extremes_of_nothing(DType::bfloat16), (std::vector<float>{-kLargestBrain, kLargestBrain}));
  EXPECT_EQ(extremes_of_nothing(DType::float32), (std::vector<float>{-kLargest, kLargest}));
  EXPECT_EQ(extremes_of_nothing(DType::int8), (std::vector<float>{-128, 127}));
  EXPECT_EQ(extremes_of_nothing(DType::uint8), (std::vector<float>{0, 255}));
}

template <class Product>
void expect_complex_gradient(Product product) {
  const Tensor x = constant({Complex(1, 1), Complex(0, 2), Complex(3, 0), Complex(0, 0), Complex(1, -1)});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = product(x, constant({0, 0, 1, 1, 1}));
  // The conjugates of the products of the others.
  EXPECT_EQ(tape.gradient(y, x).tensor().to_vector<Complex>(),
            (std::vector<Complex>{Complex(0, -2), Complex(1, -1), Complex(0, 0), Complex(3, 3), Complex(0, 0)}));
}

TEST(Segment, ProductsOfComplexNumbersHaveGradients) {
  expect_complex_gradient([](const Tensor& x, const Tensor& ids) { return segment_prod(x, ids); });
  expect_complex_gradient(
      [](const Tensor& x, const Tensor& ids) { return unsorted_segment_prod(x, ids, constant(2)); });
}

}  // namespace
}  // namespace capstan
