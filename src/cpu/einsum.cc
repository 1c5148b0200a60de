// Kernel of Einstein's summation: each input is brought into the order [batch, kept, summed] (its diagonals taken, the
// labels that only it has summed), then the pairs are matrix products, then the result is brought into the output's
// order.
#include "ops/einsum.h"

#include <algorithm>
#include <complex>
#include <map>

#include "cpu/elementwise.h"
#include "cpu/gemm.h"
#include "cpu/linalg.h"
#include "cpu/scratch.h"
#include "cpu/strided.h"
#include "ops/linalg.h"

namespace capstan::cpu {
namespace {

/// A tensor's labels without repetition, with sizes and steps; a label that stands twice walks along the diagonal.
struct Axis {
  int label;
  std::int64_t size;
  std::int64_t step;
};
using Axes = std::vector<Axis>;

const Axis* find_axis(const Axes& axes, int label) {
  for (const Axis& axis : axes)
    if (axis.label == label) return &axis;
  return nullptr;
}

Axes axes_of(const EinsumLabels& labels, const Shape& shape) {
  Axes axes;
  std::int64_t step = 1;
  for (std::size_t i = labels.size(); i-- > 0;) {
    const std::int64_t size = shape[static_cast<int>(i)];
    const auto known = std::ranges::find(axes, labels[i], &Axis::label);
    if (known != axes.end())
      known->step += step;
    else
      axes.insert(axes.begin(), Axis{labels[i], size, step});
    step *= size;
  }
  return axes;
}

using LabelList = std::vector<int>;

/// Which part each label plays in a product of two tensors.
struct Roles {
  LabelList batch, kept_a, kept_b, summed;
};

bool contains(const LabelList& list, int label) { return std::ranges::find(list, label) != list.end(); }

Roles roles_of(const Axes& a, const Axes& b, const LabelList& output) {
  Roles roles;
  for (const Axis& axis : a) {
    const bool in_b = find_axis(b, axis.label), in_output = contains(output, axis.label);
    if (axis.label >= kBroadcastLabel || (in_b && in_output))
      roles.batch.push_back(axis.label);
    else if (in_b)
      roles.summed.push_back(axis.label);
    else if (in_output)
      roles.kept_a.push_back(axis.label);
  }
  for (const Axis& axis : b) {
    if (find_axis(a, axis.label)) continue;
    if (axis.label >= kBroadcastLabel)
      roles.batch.push_back(axis.label);
    else if (contains(output, axis.label))
      roles.kept_b.push_back(axis.label);
  }
  return roles;
}

std::int64_t volume(const LabelList& labels, const Axes& axes) {
  std::int64_t product = 1;
  for (int label : labels)
    if (const Axis* axis = find_axis(axes, label)) product *= axis->size;
  return product;
}

/// The axes of `labels` that the tensor has, in that order, each with the step that a dense tensor of them has.
struct Arranged {
  std::vector<StridedDim> dims;
  Axes dense;
  std::int64_t size = 1;
};
Arranged arranged(const Axes& axes, const std::vector<const LabelList*>& order) {
  Arranged result;
  for (const LabelList* list : order)
    for (int label : *list)
      if (const Axis* axis = find_axis(axes, label)) result.dense.push_back({label, axis->size, 0});
  for (std::size_t i = result.dense.size(); i-- > 0;) {
    result.dense[i].step = result.size;
    result.size *= result.dense[i].size;
  }
  for (const Axis& axis : axes) {
    const Axis* to = find_axis(result.dense, axis.label);
    result.dims.push_back({axis.size, axis.step, to ? to->step : 0});
  }
  return result;
}

/// One input in the order that the product wants; in place where it already has it.
template <class T>
class Operand {
 public:
  Operand(const T* data, const Axes& axes, const std::vector<const LabelList*>& order)
      : arranged_(arranged(axes, order)), copy_(is_in_order(axes) ? 0 : static_cast<std::size_t>(arranged_.size)) {
    if (is_in_order(axes)) {
      data_ = data;
    } else {
      strided_sum(arranged_.dims, data, copy_.data(), arranged_.size);
      data_ = copy_.data();
    }
  }
  const T* data() const { return data_; }
  const Axes& axes() const { return arranged_.dense; }

 private:
  bool is_in_order(const Axes& axes) const {
    if (axes.size() != arranged_.dense.size()) return false;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i].label != arranged_.dense[i].label || axes[i].step != arranged_.dense[i].step) return false;
    return true;
  }

  Arranged arranged_;
  Scratch<T> copy_;
  const T* data_;
};

/// Where the matrices of each member of the batch begin in an arranged operand.
std::vector<std::int64_t> batch_offsets(const LabelList& batch, const std::vector<std::int64_t>& sizes,
                                        const Axes& axes) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Axis* axis = find_axis(axes, batch[i]);
    const std::int64_t step = axis && axis->size != 1 ? axis->step : 0;
    std::vector<std::int64_t> longer;
    longer.reserve(offsets.size() * static_cast<std::size_t>(sizes[i]));
    for (std::int64_t offset : offsets)
      for (std::int64_t k = 0; k < sizes[i]; ++k) longer.push_back(offset + k * step);
    offsets = std::move(longer);
  }
  return offsets;
}

/// Writes a dense tensor of `axes` into the output, whose labels may stand twice: then only the diagonal is not zero.
template <class T>
void write_output(const T* from, const Axes& axes, const EinsumLabels& labels, const Shape& shape, T* out,
                  std::int64_t out_size) {
  const Axes to = axes_of(labels, shape);
  std::vector<StridedDim> dims;
  for (const Axis& axis : axes) {
    const Axis* target = find_axis(to, axis.label);
    dims.push_back({axis.size, axis.step, target->step});
  }
  std::fill_n(out, out_size, T(0));
  strided_copy(dims, from, out);
}

bool is_dense_order(const Axes& axes, const EinsumLabels& labels) {
  return axes.size() == labels.size() && std::ranges::equal(axes, labels, {}, &Axis::label);
}

template <class T>
void einsum_one(const Axes& a, const T* x, const EinsumLabels& labels, const Shape& shape, T* out,
                std::int64_t out_size) {
  LabelList order;
  for (int label : labels)
    if (!contains(order, label)) order.push_back(label);
  if (order.size() == labels.size()) {
    const Arranged result = arranged(a, {&order});
    return strided_sum(result.dims, x, out, out_size);
  }
  const Operand<T> summed(x, a, {&order});
  write_output(summed.data(), summed.axes(), labels, shape, out, out_size);
}

template <class T>
void einsum_two(const Axes& a, const T* x, const Axes& b, const T* y, const EinsumLabels& labels, const Shape& shape,
                T* out, std::int64_t out_size) {
  const Roles roles = roles_of(a, b, labels);
  const Operand<T> left(x, a, {&roles.batch, &roles.kept_a, &roles.summed});
  const Operand<T> right(y, b, {&roles.batch, &roles.kept_b, &roles.summed});
  std::vector<std::int64_t> sizes;
  Axes result;
  for (int label : roles.batch) {
    const Axis *in_a = find_axis(a, label), *in_b = find_axis(b, label);
    const std::int64_t size = !in_a || (in_b && in_a->size == 1) ? in_b->size : in_a->size;
    sizes.push_back(size);
    result.push_back({label, size, 0});
  }
  for (int label : roles.kept_a) result.push_back({label, find_axis(a, label)->size, 0});
  for (int label : roles.kept_b) result.push_back({label, find_axis(b, label)->size, 0});
  std::int64_t total = 1;
  for (std::size_t i = result.size(); i-- > 0;) {
    result[i].step = total;
    total *= result[i].size;
  }
  Product product{volume(roles.kept_a, a), volume(roles.kept_b, b), volume(roles.summed, a), false, true};
  const bool is_direct = is_dense_order(result, labels);
  const Scratch<T> copy(is_direct ? 0 : static_cast<std::size_t>(total));
  T* const to = is_direct ? out : copy.data();
  const auto left_at = batch_offsets(roles.batch, sizes, left.axes()),
             right_at = batch_offsets(roles.batch, sizes, right.axes());
  multiply_batch(product, left.data(), std::span<const std::int64_t>(left_at), right.data(),
                 std::span<const std::int64_t>(right_at), to);
  if (!is_direct) write_output(to, result, labels, shape, out, out_size);
}

template <class T>
void einsum_of(KernelContext& context, const T* x, const T* y, T* out) {
  const EinsumEquation equation = parse_einsum(context.attributes<EinsumAttributes>().equation);
  const Shape& shape = context.output_spec(0).shape;
  int broadcast_rank = 0;
  std::vector<Axes> axes;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const Shape& in = context.input(i).shape();
    const int dims = ellipsis_rank(equation.inputs[i], in.rank());
    broadcast_rank = std::max(broadcast_rank, dims);
    axes.push_back(axes_of(expand_labels(equation.inputs[i], dims), in));
  }
  const EinsumLabels labels = expand_labels(equation.output, broadcast_rank);
  const std::int64_t out_size = context.output(0).size();
  if (axes.size() == 1)
    einsum_one(axes[0], x, labels, shape, out, out_size);
  else
    einsum_two(axes[0], x, axes[1], y, labels, shape, out, out_size);
}

template <class T>
void einsum_kernel(KernelContext& context) {
  T* out = context.make_output<T>(0);
  einsum_of<T>(context, context.data<T>(0), context.input_count() > 1 ? context.data<T>(1) : nullptr, out);
}

/// Half types are multiplied and summed in float.
template <class T>
void einsum_half_kernel(KernelContext& context) {
  std::vector<Scratch<float>> wide;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const auto count = context.input(i).size();
    wide.emplace_back(static_cast<std::size_t>(count));
    std::copy_n(context.data<T>(i), count, wide.back().data());
  }
  T* out = context.make_output<T>(0);
  const std::int64_t count = context.output(0).size();
  const Scratch<float> result(static_cast<std::size_t>(count));
  einsum_of<float>(context, wide[0].data(), wide.size() > 1 ? wide[1].data() : nullptr, result.data());
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(result.data()[i]);
}

template <class... Types>
KernelSet kernels_of(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), einsum_kernel<Types>), ...);
  return kernels;
}

}  // namespace

KernelSet einsum_kernels() {
  return kernels_of(join_t<TypeList<float, double>, IntegerTypes, ComplexTypes>{})
      .set(DType::float16, einsum_half_kernel<float16>)
      .set(DType::bfloat16, einsum_half_kernel<bfloat16>);
}

}  // namespace capstan::cpu
