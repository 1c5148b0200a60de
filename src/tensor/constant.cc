// Conversion of host constants to an element type, with TensorFlow's rule: the number must be representable.
#include <cmath>
#include <limits>
#include <type_traits>

#include "capstan/base/error.h"
#include "capstan/tensor/tensor.h"
#include "tensor/storage.h"
#include "tensor/type_switch.h"

namespace capstan {
namespace {

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

[[noreturn]] void refuse(DType from, DType to, const char* why) {
  throw TypeError("constant: cannot convert a value of type " + std::string(dtype_name(from)) + " to " +
                  std::string(dtype_name(to)) + ": " + why);
}

template <class From, class To>
To convert(From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<From, bool> || std::is_same_v<To, bool>) {
    refuse(dtype_of<From>(), dtype_of<To>(), "bool and numbers do not mix");
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>)
      return To(value);
    else
      refuse(dtype_of<From>(), dtype_of<To>(), "the imaginary part would be lost");
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (kIsFloating<To>) {
    if constexpr (std::is_same_v<To, double>)
      return static_cast<double>(value);
    else
      return To(static_cast<float>(value));
  } else if constexpr (kIsFloating<From>) {
    refuse(dtype_of<From>(), dtype_of<To>(), "use cast to round");
  } else {
    if (!std::in_range<To>(value)) refuse(dtype_of<From>(), dtype_of<To>(), "the value does not fit");
    return static_cast<To>(value);
  }
}

}  // namespace

Tensor constant_as(const Tensor& value, DType dtype) {
  if (value.dtype() == dtype) return value;
  if (!is_plain(dtype) || !is_plain(value.dtype())) refuse(value.dtype(), dtype, "only numbers convert");
  Tensor result = new_tensor(dtype, value.shape());
  visit_number(value.dtype(), [&]<class From>() {
    visit_number(dtype, [&]<class To>() {
      const From* from = static_cast<const From*>(value.raw_data());
      To* to = static_cast<To*>(mutable_data(result));
      for (std::int64_t i = 0; i < value.size(); ++i) to[i] = convert<From, To>(from[i]);
    });
  });
  return result;
}

}  // namespace capstan
