// Ops whose output sizes depend on values: partitioning, stitching, unique elements, places of true elements.
#include "ops/stitch.h"

#include <algorithm>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/gather.h"
#include "capstan/ops/partition.h"
#include "ops/records.h"

namespace capstan {
namespace {

/// data [partitions..., inner...], partitions.
void dynamic_partition_shape(InferContext& context) {
  const Shape& data = context.input_shape(0);
  const Shape& partitions = context.input_shape(1);
  if (context.attributes<DynamicPartitionAttributes>().num_partitions < 1)
    context.fail("'num_partitions' must be at least 1, got 0");
  Shape part = Shape::unknown();
  if (data.has_rank() && partitions.has_rank()) {
    const auto leading = [&] { return Shape(data.dims().first(static_cast<std::size_t>(partitions.rank()))); };
    if (partitions.rank() > data.rank() || !leading().is_compatible_with(partitions))
      context.fail("the shape of 'data' must begin with that of 'partitions', got shapes " + data.to_string() +
                   " and " + partitions.to_string());
    part = Shape{Shape::kUnknown};
    for (int i = partitions.rank(); i < data.rank(); ++i) part.push_back(data[i]);
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) context.set_output(i, part);
}

/// The dimensions of one data input behind those of its indices.
Shape stitched_part(InferContext& context, const Shape& indices, const Shape& data) {
  if (!indices.has_rank() || !data.has_rank()) return Shape::unknown();
  const auto leading = [&] { return Shape(data.dims().first(static_cast<std::size_t>(indices.rank()))); };
  if (indices.rank() > data.rank() || !leading().is_compatible_with(indices))
    context.fail("the shape of each 'data' must begin with that of its 'indices', got shapes " + data.to_string() +
                 " and " + indices.to_string());
  return Shape(data.dims().subspan(static_cast<std::size_t>(indices.rank())));
}

/// indices: N, data: N.
void dynamic_stitch_shape(InferContext& context) {
  const std::size_t count = context.input_count() / 2;
  if (count == 0) context.fail("there must be at least one 'indices' and one 'data'");
  Shape part = Shape::unknown();
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < count; ++i) {
    part = context.merge(part, stitched_part(context, context.input_shape(i), context.input_shape(count + i)),
                         "the shapes of 'data' behind the indices");
    if (!context.input_value(i)) rows = Shape::kUnknown;
    if (rows < 0) continue;
    for (std::int64_t index : context.integers(i)) rows = std::max(rows, index + 1);
  }
  if (!part.has_rank()) return context.set_output(0, part);
  part.insert(0, rows);
  context.set_output(0, part);
}

void unique_shape(InferContext& context) {
  context.require_rank(0, 1, "x");
  context.set_output(0, Shape{Shape::kUnknown});
  context.set_output(1, context.input_shape(0).has_rank() ? context.input_shape(0) : Shape::unknown_dims(1));
}

void where_shape(InferContext& context) {
  const Shape& input = context.input_shape(0);
  context.set_output(0, Shape{Shape::kUnknown, input.has_rank() ? input.rank() : Shape::kUnknown});
}

/// Where the elements of each part stood: their numbers, partitioned the same way, tell.
Gradients partition_gradient(const OpCall& call, std::span<const Gradient> dy) {
  const Tensor& partitions = call.input(1);
  const Shape& shape = partitions.shape();
  if (!shape.is_fully_known())
    throw Unimplemented("DynamicPartition: gradient for partitions of shape " + shape.to_string());
  const std::int64_t count = shape.num_elements();
  if (count > std::numeric_limits<std::int32_t>::max())
    throw Unimplemented("DynamicPartition: gradient for more than 2147483647 partitions");
  const Tensor numbers = reshape(range(static_cast<std::int32_t>(count)), shape);
  std::vector<Tensor> parts;
  for (const Gradient& gradient : dy) parts.push_back(gradient.tensor());
  const auto places = dynamic_partition(numbers, partitions, static_cast<std::int64_t>(dy.size()));
  return {reshape(dynamic_stitch(places, parts), shape_of_input(call, 0)), Gradient()};
}

}  // namespace

const OpDef dynamic_partition_op{
    .signature = "DynamicPartition(data: T, partitions: int32) -> (outputs: num_partitions*T); T: any",
    .summary = "The rows of data, sorted into parts by number.",
    .shape = dynamic_partition_shape,
    .gradient = [](const OpCall& call, std::span<const Gradient> dy) { return partition_gradient(call, dy); },
    .attributes = attributes<DynamicPartitionAttributes>,
    .saves = Saves::only({1}),
};

const OpDef dynamic_stitch_op{
    .signature = "DynamicStitch(indices: N*int32, data: N*T) -> (merged: T); T: any",
    .summary = "Rows of several tensors put where indices say; the last one of a place wins.",
    .shape = dynamic_stitch_shape,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          Gradients gradients(call.input_count());
          const std::size_t count = call.input_count() / 2;
          for (std::size_t i = 0; i < count; ++i) gradients[count + i] = gather(dy, call.input(i));
          return gradients;
        },
    .saves = Saves::all_inputs(),
};

const OpDef unique_op{
    .signature = "Unique(x: T) -> (y: T, idx: out_idx); T: any; out_idx: {int32, int64}",
    .summary = "The different elements of a vector in the order of their first occurrence.",
    .shape = unique_shape,
    .attributes = attributes<UniqueAttributes>,
};

const OpDef where_op{
    .signature = "Where(input: T) -> (index: int64); T: number|bool",
    .summary = "The coordinates of the elements that are not zero.",
    .shape = where_shape,
    .gradient = not_differentiable,
};

std::vector<Tensor> dynamic_partition(Tensor data, Tensor partitions, std::int64_t count) {
  const DynamicPartitionAttributes attributes{count};
  return apply_all(dynamic_partition_op, {std::move(data), partitions}, &attributes);
}
Tensor dynamic_stitch(std::span<const Tensor> indices, std::span<const Tensor> data) {
  std::vector<InputRef> inputs(indices.begin(), indices.end());
  inputs.insert(inputs.end(), data.begin(), data.end());
  return apply(dynamic_stitch_op, inputs, nullptr);
}
UniqueResult unique(Tensor x, DType index_type) {
  const UniqueAttributes attributes{index_type};
  auto outputs = apply_all(unique_op, {std::move(x)}, &attributes);
  return {std::move(outputs[0]), std::move(outputs[1])};
}
Tensor where(Tensor condition) { return apply(where_op, {std::move(condition)}); }

OpList stitch_ops() {
  static constexpr const OpDef* list[] = {&dynamic_partition_op, &dynamic_stitch_op, &unique_op, &where_op};
  return list;
}

}  // namespace capstan
