// Making tensors from a few numbers.
#include "ops/sequence.h"

#include <cmath>

#include "capstan/ops/array.h"
#include "ops/records.h"
#include "tensor/type_switch.h"

namespace capstan {
namespace {

/// How many steps lie between two integers; the distance may need all 64 bits.
template <class T>
std::int64_t integer_count(T start, T limit, T delta) {
  const auto wide = [](T value) { return static_cast<std::uint64_t>(value); };  // differences wrap to the right value
  const std::uint64_t distance = delta > 0 ? wide(limit) - wide(start) : wide(start) - wide(limit);
  const std::uint64_t step = delta > 0 ? wide(delta) : std::uint64_t{0} - wide(delta);
  return static_cast<std::int64_t>(distance / step + (distance % step != 0));
}

std::int64_t range_count(const InferContext& context) {
  return visit_number(context.input_dtype(0), [&]<class T>() -> std::int64_t {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      return 0;  // the signature excludes them
    } else {
      using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;
      const auto value = [&](std::size_t i) { return static_cast<Wide>(context.input(i).item<T>()); };
      const Wide start = value(0), limit = value(1), delta = value(2);
      if (delta == 0) context.fail("'delta' must not be 0");
      if (delta > 0 ? start > limit : start < limit)
        context.fail("'start' must not be " + std::string(delta > 0 ? "above" : "below") + " 'limit' when 'delta' is " +
                     (delta > 0 ? "positive" : "negative") + ", got " + std::to_string(start) + " and " +
                     std::to_string(limit));
      if constexpr (std::is_integral_v<T>)
        return integer_count(start, limit, delta);
      else {
        const double count = std::ceil(std::abs((limit - start) / delta));
        if (!(count < 9.2e18))
          context.fail("the number of elements, " + std::to_string(count) + ", of a " +
                       std::string(dtype_name(context.input_dtype(0))) + " range is not a number that fits");
        return static_cast<std::int64_t>(count);
      }
    }
  });
}

void range_shape(InferContext& context) {
  context.require_rank(0, 0, "start");
  context.require_rank(1, 0, "limit");
  context.require_rank(2, 0, "delta");
  const bool is_known = context.input_value(0) && context.input_value(1) && context.input_value(2);
  const std::int64_t count = is_known ? range_count(context) : Shape::kUnknown;
  if (is_known && count < 0)
    context.fail("the number of elements of a " + std::string(dtype_name(context.input_dtype(0))) +
                 " range does not fit into 64 bits");
  context.set_output(0, Shape{count});
}

void lin_space_shape(InferContext& context) {
  context.require_rank(0, 0, "start");
  context.require_rank(1, 0, "stop");
  context.require_rank(2, 0, "num");
  if (!context.input_value(2)) return context.set_output(0, Shape{Shape::kUnknown});
  const std::int64_t count = context.integers(2)[0];
  if (count <= 0) context.fail("'num' must be at least 1, got " + std::to_string(count));
  context.set_output(0, Shape{count});
}

/// indices, depth, on_value, off_value.
void one_hot_shape(InferContext& context) {
  context.require_rank(1, 0, "depth");
  context.require_rank(2, 0, "on_value");
  context.require_rank(3, 0, "off_value");
  const std::int64_t depth = context.input_value(1) ? context.integers(1)[0] : Shape::kUnknown;
  if (context.input_value(1) && depth < 0) context.fail("'depth' must not be negative, got " + std::to_string(depth));
  const std::int64_t axis = context.attributes<OneHotAttributes>().axis;
  const Shape& indices = context.input_shape(0);
  if (axis < -1) context.fail("'axis' must be at least -1, got " + std::to_string(axis));
  if (!indices.has_rank()) return context.set_output(0, Shape::unknown());
  if (axis > indices.rank())
    context.fail("'axis' must be in [-1, " + std::to_string(indices.rank()) + "] for indices of shape " +
                 indices.to_string() + ", got " + std::to_string(axis));
  std::vector<std::int64_t> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(axis < 0 ? dims.end() : dims.begin() + axis, depth);
  shape::set_output(context, 0, dims);
}

}  // namespace

const OpDef range_op{
    .signature = "Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx); Tidx: real",
    .summary = "Numbers at equal distances, up to a limit that is left out.",
    .shape = range_shape,
    .gradient = not_differentiable,
};

const OpDef lin_space_op{
    .signature = "LinSpace(start: T, stop: T, num: Tidx) -> (output: T); T: floating; Tidx: {int32, int64}",
    .summary = "A given number of numbers at equal distances, both ends included.",
    .shape = lin_space_shape,
    .gradient = not_differentiable,
};

const OpDef one_hot_op{
    .signature =
        "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> (output: T); T: any; "
        "TI: {uint8, int8, int32, int64}",
    .summary = "One value at the places that indices name along a new axis, another elsewhere.",
    .shape = one_hot_shape,
    .gradient = not_differentiable,
    .attributes = attributes<OneHotAttributes>,
};

Tensor one_hot(Tensor indices, std::int32_t depth, Tensor on, Tensor off, std::int64_t axis) {
  const OneHotAttributes attributes{axis};
  return apply(one_hot_op, {indices, constant(depth), on, off}, &attributes);
}
Tensor one_hot(Tensor indices, std::int32_t depth) {
  return one_hot(std::move(indices), depth, constant(1.f), constant(0.f));
}
Tensor range(Tensor start, Tensor limit, Tensor delta) { return apply(range_op, {start, limit, delta}); }
Tensor range(std::int32_t start, std::int32_t limit, std::int32_t delta) {
  return range(constant(start), constant(limit), constant(delta));
}
Tensor range(std::int32_t limit) { return range(0, limit, 1); }
Tensor linspace(Tensor start, Tensor stop, std::int32_t count) {
  return apply(lin_space_op, {start, stop, constant(count)});
}

OpList sequence_ops() {
  static constexpr const OpDef* list[] = {&range_op, &lin_space_op, &one_hot_op};
  return list;
}

}  // namespace capstan
