#include "compare.h"

#include <cmath>
#include <complex>
#include <cstring>

#include "tensor/type_switch.h"

namespace capstan::conformance {
namespace {

bool near(double expected, double got, double rtol, double atol) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return expected == got;
  return std::abs(expected - got) <= atol + rtol * std::abs(expected);
}

template <class T>
bool elements_near(T expected, T got, double rtol, double atol) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    const double scale = rtol * std::abs(std::complex<double>(expected));
    return near(expected.real(), got.real(), rtol, atol + scale) &&
           near(expected.imag(), got.imag(), rtol, atol + scale);
  } else if constexpr (std::is_integral_v<T>) {
    return expected == got;
  } else {
    return near(static_cast<double>(expected), static_cast<double>(got), rtol, atol);
  }
}

template <class T>
bool same_number(const T& expected, const T& got) {
  if (std::memcmp(&expected, &got, sizeof(T)) == 0) return true;
  return elements_near(expected, got, 0, 0) && expected != expected;  // NaN has many forms
}

::testing::AssertionResult differ(const Tensor& expected, const Tensor& got, std::int64_t at) {
  return ::testing::AssertionFailure() << "element " << at << " differs; expected " << expected << " of shape "
                                       << expected.shape() << ", got " << got;
}

}  // namespace

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 2e-3;
    case DType::bfloat16:
      return 1.6e-2;
    case DType::float32:
    case DType::complex64:
      return 2e-6;
    case DType::float64:
    case DType::complex128:
      return 1e-12;
    default:
      return 0;
  }
}

::testing::AssertionResult nearly_equal(const Tensor& expected, const Tensor& got, double rtol, double atol) {
  if (expected.dtype() != got.dtype())
    return ::testing::AssertionFailure() << "expected type " << expected.dtype() << ", got " << got.dtype();
  if (expected.shape() != got.shape())
    return ::testing::AssertionFailure() << "expected shape " << expected.shape() << ", got " << got.shape();
  if (expected.dtype() == DType::string) {
    for (std::int64_t i = 0; i < expected.size(); ++i)
      if (expected.values<std::string>()[static_cast<std::size_t>(i)] !=
          got.values<std::string>()[static_cast<std::size_t>(i)])
        return differ(expected, got, i);
    return ::testing::AssertionSuccess();
  }
  const bool is_exact = rtol == 0 && atol == 0;
  if (rtol < 0) rtol = tolerance_of(expected.dtype());
  if (atol < 0) atol = tolerance_of(expected.dtype());
  std::int64_t wrong = -1;
  visit_number(expected.dtype(), [&]<class T>() {
    const T* a = static_cast<const T*>(expected.raw_data());
    const T* b = static_cast<const T*>(got.raw_data());
    for (std::int64_t i = 0; i < expected.size() && wrong < 0; ++i)
      if (!(is_exact ? same_number(a[i], b[i]) : elements_near(a[i], b[i], rtol, atol))) wrong = i;
  });
  return wrong < 0 ? ::testing::AssertionSuccess() : differ(expected, got, wrong);
}

}  // namespace capstan::conformance
