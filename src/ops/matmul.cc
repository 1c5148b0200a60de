// Products of matrices: MatMul, and BatchMatMulV2 over leading dimensions.
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/linalg.h"
#include "capstan/ops/math.h"
#include "ops/linalg.h"
#include "ops/records.h"

namespace capstan {
namespace {

[[noreturn]] void fail_inner(const InferContext& context, std::int64_t a, std::int64_t b) {
  context.fail("inner dimensions must agree, got " + context.input_shape(0).to_string() + " and " +
               context.input_shape(1).to_string() + " (" + std::to_string(a) + " against " + std::to_string(b) + ")");
}

void mat_mul_shape(InferContext& context) {
  const auto& attributes = context.attributes<MatMulAttributes>();
  context.require_rank(0, 2, "a");
  context.require_rank(1, 2, "b");
  const Shape &a = context.input_shape(0), &b = context.input_shape(1);
  Shape product = Shape::unknown_dims(2);
  if (a.has_rank()) product.set_dim(0, a[attributes.transpose_a ? 1 : 0]);
  if (b.has_rank()) product.set_dim(1, b[attributes.transpose_b ? 0 : 1]);
  if (a.has_rank() && b.has_rank()) {
    const std::int64_t from_a = a[attributes.transpose_a ? 0 : 1], from_b = b[attributes.transpose_b ? 1 : 0];
    if (from_a >= 0 && from_b >= 0 && from_a != from_b) fail_inner(context, from_a, from_b);
  }
  context.set_output(0, product);
}

Tensor mat_mul(const Tensor& a, const Tensor& b, MatMulAttributes attributes) {
  return apply(mat_mul_op, {a, b}, &attributes);
}

Gradients mat_mul_gradient(const OpCall& call, Tensor dy) {
  const auto& of = call.attributes<MatMulAttributes>();
  Gradients gradients(2);
  if (call.needs_gradient(0)) {
    const Tensor b = conj(call.input(1));
    gradients[0] = of.transpose_a ? mat_mul(b, dy, {.transpose_a = of.transpose_b, .transpose_b = true, .grad_a = true})
                                  : mat_mul(dy, b, {.transpose_b = !of.transpose_b, .grad_a = true});
  }
  if (call.needs_gradient(1)) {
    const Tensor a = conj(call.input(0));
    gradients[1] = of.transpose_b ? mat_mul(dy, a, {.transpose_a = true, .transpose_b = of.transpose_a, .grad_b = true})
                                  : mat_mul(a, dy, {.transpose_a = !of.transpose_a, .grad_b = true});
  }
  return gradients;
}

Tensor batch_mat_mul(const Tensor& x, const Tensor& y, BatchMatMulAttributes attributes) {
  return apply(batch_mat_mul_v2_op, {x, y}, &attributes);
}

/// A batch of matrix products. An adjoint conjugates, so a transposed complex matrix is conjugated before.
std::vector<Tensor> mat_mul_batching(const OpCall& call, std::span<const bool>) {
  const auto& of = call.attributes<MatMulAttributes>();
  const Tensor a = of.transpose_a ? conj(call.input(0)) : call.input(0);
  const Tensor b = of.transpose_b ? conj(call.input(1)) : call.input(1);
  return {batch_mat_mul(a, b, {.adj_x = of.transpose_a, .adj_y = of.transpose_b})};
}

Shape without_matrix(Shape shape) {
  shape.erase(shape.rank() - 1);
  shape.erase(shape.rank() - 1);
  return shape;
}

template <bool kBroadcasts>
void batch_mat_mul_shape(InferContext& context) {
  const auto& attributes = context.attributes<BatchMatMulAttributes>();
  context.require_rank_at_least(0, 2, "x");
  context.require_rank_at_least(1, 2, "y");
  const Shape &x = context.input_shape(0), &y = context.input_shape(1);
  if (x.has_rank() && y.has_rank()) {
    const std::int64_t from_x = x[x.rank() - (attributes.adj_x ? 2 : 1)],
                       from_y = y[y.rank() - (attributes.adj_y ? 1 : 2)];
    if (from_x >= 0 && from_y >= 0 && from_x != from_y) fail_inner(context, from_x, from_y);
  }
  const Shape batch_x = x.has_rank() ? without_matrix(x) : Shape::unknown();
  const Shape batch_y = y.has_rank() ? without_matrix(y) : Shape::unknown();
  Shape output = kBroadcasts ? shape::broadcast_shapes(context, batch_x, batch_y)
                             : context.merge(batch_x, batch_y, "leading dimensions");
  if (output.has_rank()) {
    output.push_back(x.has_rank() ? x[x.rank() - (attributes.adj_x ? 1 : 2)] : Shape::kUnknown);
    output.push_back(y.has_rank() ? y[y.rank() - (attributes.adj_y ? 2 : 1)] : Shape::kUnknown);
  }
  context.set_output(0, output);
}

/// The matrices of `x` below each other.
Tensor stacked_rows(const Tensor& x) { return reshape(x, Shape{-1, x.shape()[x.rank() - 1]}); }

/// One matrix `y` for all of x: its gradient is one product instead of a sum of many.
bool shares_y(const OpCall& call) {
  const Shape &x = call.input_shape(0), &y = call.input_shape(1);
  return y.rank() == 2 && x.rank() > 2 && x.is_fully_known() && y.is_fully_known() &&
         !call.attributes<BatchMatMulAttributes>().adj_x;
}

Gradient shared_y_gradient(const OpCall& call, const Tensor& dz) {
  const Tensor x = stacked_rows(call.input(0)), rows = stacked_rows(dz);
  return call.attributes<BatchMatMulAttributes>().adj_y ? mat_mul(conj(rows), x, {.transpose_a = true, .grad_b = true})
                                                        : mat_mul(conj(x), rows, {.transpose_a = true, .grad_b = true});
}

Gradients batch_mat_mul_gradient(const OpCall& call, Tensor dz) {
  const auto& of = call.attributes<BatchMatMulAttributes>();
  Gradients gradients(2);
  if (call.needs_gradient(0)) {
    const Tensor& y = call.input(1);
    gradients[0] = unbroadcast(call, 0,
                               of.adj_x ? batch_mat_mul(y, dz, {.adj_x = of.adj_y, .adj_y = true, .grad_x = true})
                                        : batch_mat_mul(dz, y, {.adj_y = !of.adj_y, .grad_x = true}));
  }
  if (call.needs_gradient(1) && shares_y(call)) {
    gradients[1] = shared_y_gradient(call, dz);
  } else if (call.needs_gradient(1)) {
    const Tensor& x = call.input(0);
    gradients[1] = unbroadcast(call, 1,
                               of.adj_y ? batch_mat_mul(dz, x, {.adj_x = true, .adj_y = of.adj_x, .grad_y = true})
                                        : batch_mat_mul(x, dz, {.adj_x = !of.adj_x, .grad_y = true}));
  }
  return gradients;
}

}  // namespace

const OpDef mat_mul_op{
    .signature =
        "MatMul(a: T, b: T) -> (product: T); "
        "T: floating|complex|int32|int64|unsigned",
    .summary = "Product of two matrices, either of them transposed on request.",
    .shape = mat_mul_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return mat_mul_gradient(call, std::move(dy)); },
    .batching = mat_mul_batching,
    .forward = forward::multilinear({0, 1}),
    .attributes = attributes<MatMulAttributes>,
    .saves = Saves::all_inputs(),
};

const OpDef batch_mat_mul_op{
    .signature = "BatchMatMul(x: T, y: T) -> (output: T); T: floating|complex|int32|int64",
    .summary = "Products of the matrices in the last two dimensions; the leading dimensions are equal.",
    .shape = batch_mat_mul_shape<false>,
    .gradient = [](const OpCall& call, Tensor dz) { return batch_mat_mul_gradient(call, std::move(dz)); },
    .forward = forward::multilinear({0, 1}),
    .attributes = attributes<BatchMatMulAttributes>,
    .saves = Saves::all_inputs(),
};

const OpDef batch_mat_mul_v2_op{
    .signature = "BatchMatMulV2(x: T, y: T) -> (output: T); T: floating|complex|int16|int32|int64|unsigned",
    .summary = "Products of the matrices in the last two dimensions; the leading dimensions broadcast.",
    .shape = batch_mat_mul_shape<true>,
    .gradient = [](const OpCall& call, Tensor dz) { return batch_mat_mul_gradient(call, std::move(dz)); },
    .batching = batching::elementwise,
    .forward = forward::multilinear({0, 1}),
    .attributes = attributes<BatchMatMulAttributes>,
    .saves = Saves::all_inputs(),
};

Tensor matmul(Tensor a, Tensor b, const MatMulOptions& options) {
  if ((options.transpose_a && options.adjoint_a) || (options.transpose_b && options.adjoint_b))
    throw InvalidArgument("matmul: a matrix is transposed or adjoint, not both; set one of the two options");
  const bool is_complex_product = is_complex(a.dtype());
  if (a.rank() == 2 && b.rank() == 2) {
    const MatMulAttributes attributes{options.transpose_a || options.adjoint_a,
                                      options.transpose_b || options.adjoint_b, false, false};
    if (options.adjoint_a && is_complex_product) a = conj(std::move(a));
    if (options.adjoint_b && is_complex_product) b = conj(std::move(b));
    return apply(mat_mul_op, {std::move(a), std::move(b)}, &attributes);
  }
  if (options.transpose_a && is_complex_product) a = conj(std::move(a));
  if (options.transpose_b && is_complex_product) b = conj(std::move(b));
  const BatchMatMulAttributes attributes{options.transpose_a || options.adjoint_a,
                                         options.transpose_b || options.adjoint_b, false, false};
  return apply(batch_mat_mul_v2_op, {std::move(a), std::move(b)}, &attributes);
}

OpList linalg_ops() {
  static constexpr const OpDef* list[] = {&mat_mul_op, &batch_mat_mul_op, &batch_mat_mul_v2_op, &einsum_op};
  return list;
}

}  // namespace capstan
