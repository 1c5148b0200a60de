// Kernels of conversions between element types.
#include "ops/cast.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "capstan/base/error.h"
#include "cpu/element.h"
#include "cpu/tables.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

/// The nearest integer towards zero that the type has; 0 for NaN. (Beyond the type's bounds C++ defines nothing.)
template <class To, class From>
To to_integer(From x) {
  constexpr auto kEnd =
      static_cast<From>(std::uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;  // first above
  if (!(x < kEnd)) return x >= kEnd ? std::numeric_limits<To>::max() : To(0);
  if constexpr (std::is_signed_v<To>)
    return x < -kEnd ? std::numeric_limits<To>::min() : static_cast<To>(x);
  else
    return x < 0 ? To(0) : static_cast<To>(x);
}

template <class To, class From>
To convert(From x) {
  if constexpr (is_complex_v<From> && is_complex_v<To>)
    return {static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag())};
  else if constexpr (is_complex_v<From>)
    return convert<To>(x.real());
  else if constexpr (is_complex_v<To>)
    return {convert<typename To::value_type>(x), 0};
  else if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return to_integer<To>(x);
  else
    return static_cast<To>(x);
}

using CastRow = void (*)(const void* x, void* out, std::int64_t n);

template <class From, class To>
void cast_row(const void* x, void* out, std::int64_t n) {
  const auto* from = static_cast<const From*>(x);
  auto* to = static_cast<To*>(out);
  if constexpr (is_half<From> && std::is_same_v<To, float>) {
    widen(from, to, n);
  } else if constexpr (std::is_same_v<From, float> && is_half<To>) {
    narrow(from, to, n);
  } else if constexpr (is_half<From> || is_half<To>) {  // by way of float
    float buffer[kHalfChunk];
    for (std::int64_t i = 0; i < n; i += kHalfChunk) {
      const std::int64_t count = std::min(kHalfChunk, n - i);
      cast_row<From, float>(from + i, buffer, count);
      cast_row<float, To>(buffer, to + i, count);
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
  }
}

using CastTable = std::array<std::array<CastRow, kDTypeCount>, kDTypeCount>;
using CastTypes = join_t<NumberTypes, TypeList<bool>>;

template <class From, class... To>
void add_row(CastTable& table, TypeList<To...>) {
  auto& row = table[static_cast<std::size_t>(dtype_of<From>())];
  ((row[static_cast<std::size_t>(dtype_of<To>())] = cast_row<From, To>), ...);
}
template <class... From>
CastTable make_table(TypeList<From...>) {
  CastTable table{};
  (add_row<From>(table, CastTypes{}), ...);
  return table;
}

// ---- truncation -----------------------------------------------------------------------------------------------------

/// Digits of a floating or complex type after the leading one; 0 for other types.
int mantissa_digits(DType dtype) {
  switch (dtype) {
    case DType::bfloat16:
      return 7;
    case DType::float16:
      return 10;
    case DType::float32:
    case DType::complex64:
      return 23;
    case DType::float64:
    case DType::complex128:
      return 52;
    default:
      return 0;
  }
}

/// The number without its last `digits` binary digits; NaN stays NaN.
template <class T, class Bits>
T without_last(T x, int digits) {
  return std::isnan(x) ? x : std::bit_cast<T>(std::bit_cast<Bits>(x) >> digits << digits);
}

/// A copy of the floating numbers without the digits that the target type has no place for.
Tensor truncated(const Tensor& x, int digits) {
  Tensor result = new_tensor(x.dtype(), x.shape());
  const std::int64_t parts = x.size() * (is_complex(x.dtype()) ? 2 : 1);
  if (x.dtype() == DType::float64 || x.dtype() == DType::complex128) {
    const auto* from = static_cast<const double*>(x.raw_data());
    auto* to = static_cast<double*>(mutable_data(result));
    for (std::int64_t i = 0; i < parts; ++i) to[i] = without_last<double, std::uint64_t>(from[i], digits);
  } else {
    const auto* from = static_cast<const float*>(x.raw_data());
    auto* to = static_cast<float*>(mutable_data(result));
    for (std::int64_t i = 0; i < parts; ++i) to[i] = without_last<float, std::uint32_t>(from[i], digits);
  }
  return result;
}

// ---- the kernels ----------------------------------------------------------------------------------------------------

[[noreturn]] void fail_pair(const KernelContext& context, DType from, DType to) {
  throw Unimplemented(std::string(context.op().name()) + ": there is no conversion from " +
                      std::string(dtype_name(from)) + " to " + std::string(dtype_name(to)));
}

void cast_kernel(KernelContext& context) {
  static const CastTable table = make_table(CastTypes{});
  Tensor x = context.input(0);
  const DType from = x.dtype(), to = context.output_spec(0).dtype;
  if (from == to) return context.set_output(0, share_elements(x, x.shape()));
  const CastRow row = table[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  if (!row) fail_pair(context, from, to);
  const int spare = mantissa_digits(from) - mantissa_digits(to);
  if (context.attributes<CastAttributes>().Truncate && mantissa_digits(to) && spare > 0 && from != DType::float16)
    x = truncated(x, spare);
  const auto* in = static_cast<const char*>(x.raw_data());
  auto* out = static_cast<char*>(context.make_output(0, x.shape()));
  const auto in_size = static_cast<std::int64_t>(dtype_size(from)),
             out_size = static_cast<std::int64_t>(dtype_size(to));
  for_blocks(x.size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    row(in + begin * in_size, out + begin * out_size, end - begin);
  });
}

void bitcast_kernel(KernelContext& context) {
  const TensorSpec& spec = context.output_spec(0);
  context.set_output(0, share_elements(context.input(0), spec.shape, spec.dtype));
}

}  // namespace

KernelTable cast_kernels() {
  static const KernelRow rows[] = {
      {&cast_op, any_type(cast_kernel)},
      {&bitcast_op, any_type(bitcast_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
