// Kernels of the optimizers' updates: in place, under the locks of all variables they touch.
#include "ops/training.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/thread_pool.h"
#include "capstan/base/error.h"
#include "cpu/elementwise.h"
#include "cpu/subnormals.h"
#include "cpu/tables.h"
#include "cpu/vector_training.h"
#include "ops/variable_resource.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>, float, T>;

template <class T>
constexpr bool kIsVectorized = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The variable and its slots, locked: each distinct one once, in the order of addresses, so that two updates never
/// wait for each other.
class LockedVariables {
 public:
  LockedVariables(KernelContext& context, std::size_t count) : op_(context.op().name()) {
    std::vector<VariableResource*> distinct;
    for (std::size_t i = 0; i < count; ++i)
      distinct.push_back(variables_.emplace_back(&variable_of(context.input(i), op_)));
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (VariableResource* variable : distinct) locks_.emplace_back(variable->mutex());
  }
  /// Elements of variable `i`, to be written in place; they have the gradient's shape.
  template <class T>
  T* values(KernelContext& context, std::size_t i, const Shape& gradient) {
    Tensor& value = variables_[i]->writable(op_);
    if (value.shape() != gradient)
      context.fail("variable '" + variables_[i]->name() + "' has shape " + value.shape().to_string() +
                   ", the gradient " + gradient.to_string());
    return mutable_values<T>(value);
  }
  Tensor& sparse(std::size_t i) { return variables_[i]->writable_sparse(op_); }

 private:
  std::string_view op_;
  std::vector<VariableResource*> variables_;
  std::vector<std::unique_lock<std::shared_mutex>> locks_;
};

template <class T>
Wide<T> scalar(KernelContext& context, std::size_t i) {
  return static_cast<Wide<T>>(*context.data<T>(i));
}

template <class T>
void gradient_descent(KernelContext& context) {
  using W = Wide<T>;
  LockedVariables locked(context, 1);
  T* var = locked.values<T>(context, 0, context.input(2).shape());
  const W alpha = scalar<T>(context, 1);
  const T* delta = context.data<T>(2);
  for_blocks(context.input(2).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    const FlushSubnormals flush;
    if constexpr (kIsVectorized<T>)
      vector_training<T>().descent(var + begin, delta + begin, alpha, end - begin);
    else
      for (std::int64_t i = begin; i < end; ++i) var[i] = static_cast<T>(W(var[i]) - alpha * W(delta[i]));
  });
}

struct MomentumStep {
  template <class W>
  static void step(W& var, W& accum, W lr, W grad, W momentum, bool nesterov) {
    accum = accum * momentum + grad;
    if (nesterov)
      var -= grad * lr + accum * momentum * lr;
    else
      var -= accum * lr;
  }
};
struct KerasMomentumStep {
  template <class W>
  static void step(W& var, W& accum, W lr, W grad, W momentum, bool nesterov) {
    accum = accum * momentum - grad * lr;
    if (nesterov)
      var += accum * momentum - grad * lr;
    else
      var += accum;
  }
};

template <class T, class Step>
void momentum_rows(T* var, T* accum, const T* grad, std::int64_t n, Wide<T> lr, Wide<T> momentum, bool nesterov) {
  const FlushSubnormals flush;
  for (std::int64_t i = 0; i < n; ++i) {
    Wide<T> w(var[i]), a(accum[i]);
    Step::step(w, a, lr, static_cast<Wide<T>>(grad[i]), momentum, nesterov);
    accum[i] = static_cast<T>(a);
    var[i] = static_cast<T>(w);
  }
}

template <class T, class Step>
void momentum(KernelContext& context) {
  LockedVariables locked(context, 2);
  const Shape& shape = context.input(3).shape();
  T* accum = locked.values<T>(context, 1, shape);
  T* var = locked.values<T>(context, 0, shape);
  const T* grad = context.data<T>(3);
  const bool nesterov = context.attributes<NesterovAttributes>().use_nesterov;
  for_blocks(context.input(3).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    momentum_rows<T, Step>(var + begin, accum + begin, grad + begin, end - begin, scalar<T>(context, 2),
                           scalar<T>(context, 4), nesterov);
  });
}

template <class T>
void sparse_keras_momentum(KernelContext& context) {
  LockedVariables locked(context, 2);
  Tensor& accum = locked.sparse(1);
  Tensor& var = locked.sparse(0);
  const Tensor& indices = context.input(4);
  const Shape& shape = var.shape();
  if (shape.rank() < 1 || accum.shape() != shape)
    context.fail("variable and accumulator must have one shape of rank 1 or more");
  const std::int64_t width = shape[0] ? var.size() / shape[0] : 0;
  if (context.input(3).size() != indices.size() * width)
    context.fail("the gradient of shape " + context.input(3).shape().to_string() + " does not fit " +
                 std::to_string(indices.size()) + " rows of a variable of shape " + shape.to_string());
  std::vector<std::int64_t> rows(static_cast<std::size_t>(indices.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = indices.dtype() == DType::int32 ? indices.values<std::int32_t>()[i] : indices.values<std::int64_t>()[i];
    if (rows[i] < 0 || rows[i] >= shape[0])
      context.fail("indices[" + std::to_string(i) + "] = " + std::to_string(rows[i]) + " is not in [0, " +
                   std::to_string(shape[0]) + ")");
  }
  const bool nesterov = context.attributes<NesterovAttributes>().use_nesterov;
  for (std::size_t i = 0; i < rows.size(); ++i)
    momentum_rows<T, KerasMomentumStep>(mutable_values<T>(var) + rows[i] * width,
                                        mutable_values<T>(accum) + rows[i] * width,
                                        context.data<T>(3) + static_cast<std::int64_t>(i) * width, width,
                                        scalar<T>(context, 2), scalar<T>(context, 5), nesterov);
}

template <class T>
void adam_rows(T* var, T* m, T* v, const T* grad, const AdamNumbers<Wide<T>>& of, std::int64_t n) {
  using W = Wide<T>;
  for (std::int64_t i = 0; i < n; ++i) {
    const W g(grad[i]);
    const W mean = W(m[i]) + (g - W(m[i])) * (W(1) - of.beta1);
    const W square = W(v[i]) + (g * g - W(v[i])) * (W(1) - of.beta2);
    const W direction = of.use_nesterov ? g * (W(1) - of.beta1) + of.beta1 * mean : mean;
    m[i] = static_cast<T>(mean);
    v[i] = static_cast<T>(square);
    var[i] = static_cast<T>(W(var[i]) - of.alpha * direction / (std::sqrt(square) + of.epsilon));
  }
}

template <class T>
void adam(KernelContext& context) {
  using W = Wide<T>;
  LockedVariables locked(context, 3);
  const Shape& shape = context.input(9).shape();
  T* m = locked.values<T>(context, 1, shape);
  T* v = locked.values<T>(context, 2, shape);
  T* var = locked.values<T>(context, 0, shape);
  const T* grad = context.data<T>(9);
  const W one(1);
  const AdamNumbers<W> numbers{
      scalar<T>(context, 5) * std::sqrt(one - scalar<T>(context, 4)) / (one - scalar<T>(context, 3)),
      scalar<T>(context, 6), scalar<T>(context, 7), scalar<T>(context, 8),
      context.attributes<NesterovAttributes>().use_nesterov};
  for_blocks(context.input(9).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    const FlushSubnormals flush;
    if constexpr (kIsVectorized<T>)
      vector_training<T>().adam(var + begin, m + begin, v + begin, grad + begin, numbers, end - begin);
    else
      adam_rows(var + begin, m + begin, v + begin, grad + begin, numbers, end - begin);
  });
}

template <class... Types>
KernelSet descent_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), gradient_descent<Types>), ...);
  return kernels;
}
template <class Step, class... Types>
KernelSet momentum_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), momentum<Types, Step>), ...);
  return kernels;
}
template <class... Types>
KernelSet sparse_momentum_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), sparse_keras_momentum<Types>), ...);
  return kernels;
}
template <class... Types>
KernelSet adam_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), adam<Types>), ...);
  return kernels;
}

using TrainingTypes = join_t<FloatingTypes, ComplexTypes>;

}  // namespace

KernelTable training_kernels() {
  static const KernelRow rows[] = {
      {&apply_gradient_descent_op, descent_kernels(TrainingTypes{})},
      {&apply_momentum_op, momentum_kernels<MomentumStep>(TrainingTypes{})},
      {&apply_keras_momentum_op, momentum_kernels<KerasMomentumStep>(TrainingTypes{})},
      {&sparse_apply_keras_momentum_op, sparse_momentum_kernels(TrainingTypes{})},
      {&apply_adam_op, adam_kernels(TrainingTypes{})},
  };
  return rows;
}

}  // namespace capstan::cpu
