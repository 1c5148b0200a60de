// Conversion between element types.
#include "capstan/ops/cast.h"

#include "ops/cast.h"
#include "ops/records.h"

namespace capstan {
namespace {

void bitcast_shape(InferContext& context) {
  Shape shape = context.input_shape(0);
  const std::size_t from = dtype_size(context.input_dtype(0)), to = dtype_size(context.output_dtype(0));
  if (!shape.has_rank()) return context.set_output(0, shape);
  if (from > to) {
    shape.push_back(static_cast<std::int64_t>(from / to));
  } else if (from < to) {
    const auto ratio = static_cast<std::int64_t>(to / from);
    if (shape.is_scalar() || (shape[shape.rank() - 1] >= 0 && shape[shape.rank() - 1] != ratio))
      context.fail("from " + std::string(dtype_name(context.input_dtype(0))) + " to " +
                   std::string(dtype_name(context.output_dtype(0))) + " the last dimension must be " +
                   std::to_string(ratio) + ", got shape " + shape.to_string());
    Shape shorter;
    for (int i = 0; i + 1 < shape.rank(); ++i) shorter.push_back(shape[i]);
    shape = shorter;
  }
  context.set_output(0, shape);
}

}  // namespace

const OpDef cast_op{
    .signature = "Cast(x: SrcT) -> (y: DstT); SrcT: any; DstT: any",
    .summary = "The elements converted to another type.",
    .shape = shape::unchanged,
    .gradient =
        [](const OpCall& call, Tensor dy) {
          const DType from = call.input_dtype(0);
          const bool flows =
              (is_floating(from) || is_complex(from)) && (is_floating(dy.dtype()) || is_complex(dy.dtype()));
          return flows ? Gradient(cast(dy, from)) : Gradient();
        },
    .batching = batching::elementwise,
    .forward = forward::linear({0}),
    .attributes = attributes<CastAttributes>,
    .saves = Saves::nothing(),
    .facts = {.elementwise = true},
};

const OpDef bitcast_op{
    .signature = "Bitcast(input: T) -> (output: type); T: number; type: number",
    .summary = "The same bytes as another type.",
    .shape = bitcast_shape,
    .gradient = not_differentiable,
    .attributes = attributes<BitcastAttributes>,
    .saves = Saves::nothing(),
};

Tensor cast(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const CastAttributes attributes{dtype};
  return apply(cast_op, {std::move(x)}, &attributes);
}

Tensor bitcast(Tensor x, DType dtype) {
  const BitcastAttributes attributes{dtype};
  return apply(bitcast_op, {std::move(x)}, &attributes);
}

OpList cast_ops() {
  static constexpr const OpDef* list[] = {&cast_op, &bitcast_op};
  return list;
}

}  // namespace capstan
