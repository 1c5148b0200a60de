#include "capstan/op/infer.h"

#include <algorithm>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "op/observer.h"
#include "tensor/integers.h"

namespace capstan {

std::string_view InferContext::op_name() const { return op_.name(); }

void InferContext::fail(const std::string& message) const {
  throw InvalidArgument(std::string(op_name()) + ": " + message);
}

void InferContext::fail_type(const std::string& message) const {
  throw TypeError(std::string(op_name()) + ": " + message);
}

const Tensor* InferContext::traced_value(std::size_t i) const {
  Recorder* recorder = thread_state().recorder;
  return recorder ? recorder->constant_value(*inputs_[i].tensor) : nullptr;
}

std::vector<std::int64_t> InferContext::integers(std::size_t i) const {
  const Tensor* value = input_value(i);
  if (!value) fail("input " + std::to_string(i) + " must have a known value here");
  if (!is_integer(value->dtype()) || value->dtype() == DType::uint64)
    fail_type("input " + std::to_string(i) + " must be of an integer type whose numbers fit into int64, got " +
              std::string(dtype_name(value->dtype())));
  return integers_of(*value);
}

Shape InferContext::shape_from_input(std::size_t i, bool allow_unknown) const {
  const Shape& given = input_shape(i);
  require_rank(i, 1, "shape");
  if (!input_value(i)) {
    if (Recorder* recorder = thread_state().recorder; recorder && inputs_[i].tensor->is_symbolic())
      if (Shape known = recorder->constant_shape(*inputs_[i].tensor); known.has_rank()) return known;
    if (given.rank() != 1 || given[0] < 0) return Shape::unknown();
    if (given[0] > Shape::kMaxRank) fail("a shape has at most 254 dimensions, got " + std::to_string(given[0]));
    return Shape::unknown_dims(static_cast<int>(given[0]));
  }
  const auto dims = integers(i);
  for (std::int64_t size : dims)
    if (size < (allow_unknown ? -1 : 0)) fail("sizes in a shape must not be negative, got " + std::to_string(size));
  if (dims.size() > Shape::kMaxRank) fail("a shape has at most 254 dimensions, got " + std::to_string(dims.size()));
  Shape shape(dims);
  try {
    shape.num_elements();
  } catch (const InvalidArgument&) {
    fail("the elements of shape " + shape.to_string() + " cannot be counted in 64 bits");
  }
  return shape;
}

void InferContext::require_rank(std::size_t i, int rank, std::string_view argument) const {
  const Shape& shape = input_shape(i);
  if (shape.has_rank() && shape.rank() != rank)
    fail("'" + std::string(argument) + "' must have " + std::to_string(rank) + " dimensions, got shape " +
         shape.to_string());
}

void InferContext::require_rank_at_least(std::size_t i, int rank, std::string_view argument) const {
  const Shape& shape = input_shape(i);
  if (shape.has_rank() && shape.rank() < rank)
    fail("'" + std::string(argument) + "' must have at least " + std::to_string(rank) + " dimensions, got shape " +
         shape.to_string());
}

int InferContext::normalize_axis(std::int64_t axis, int rank, std::string_view argument) const {
  if (axis < -rank || axis >= rank)
    fail("'" + std::string(argument) + "' must be in [" + std::to_string(-rank) + ", " + std::to_string(rank) +
         "), got " + std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape InferContext::merge(const Shape& a, const Shape& b, std::string_view what) const {
  if (!a.is_compatible_with(b))
    fail(std::string(what) + " must agree, got shapes " + a.to_string() + " and " + b.to_string());
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  Shape merged = a;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] < 0) merged.set_dim(i, b[i]);
  return merged;
}

namespace shape {

void unchanged(InferContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, context.input_shape(0));
}

Shape broadcast_shapes(const InferContext& context, const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  const int offset = longer.rank() - shorter.rank();
  Shape result = longer;
  for (int i = 0; i < shorter.rank(); ++i) {
    const std::int64_t x = longer[i + offset];
    const std::int64_t y = shorter[i];
    if (x == y || y == 1) continue;
    // An unknown size beside a known one above 1 must turn out to be that one or 1.
    if (x == 1 || x < 0)
      result.set_dim(i + offset, x < 0 && y < 0 ? Shape::kUnknown : y);
    else if (y >= 0)
      context.fail("shapes " + a.to_string() + " and " + b.to_string() + " do not broadcast: sizes " +
                   std::to_string(x) + " and " + std::to_string(y) + " in dimension " + std::to_string(i + offset) +
                   " must be equal or one of them 1");
  }
  return result;
}

void broadcast(InferContext& context) {
  const Shape& a = context.input_shape(0);
  const Shape& b = context.input_shape(1);
  if (a == b) [[likely]]
    return context.set_output(0, a);
  context.set_output(0, broadcast_shapes(context, a, b));
}

void broadcast_all(InferContext& context) {
  Shape result = context.input_shape(0);
  for (std::size_t i = 1; i < context.input_count(); ++i)
    result = broadcast_shapes(context, result, context.input_shape(i));
  context.set_output(0, result);
}

void scalar(InferContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, Shape{});
}

void unknown(InferContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, Shape::unknown());
}

void none(InferContext&) {}

}  // namespace shape
}  // namespace capstan
