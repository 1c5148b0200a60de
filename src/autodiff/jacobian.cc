// Jacobians: gradients of many seeds, in one backward pass over batched seeds or one pass after another.
#include "capstan/autodiff/jacobian.h"

#include <limits>

#include "autodiff/batch.h"
#include "autodiff/tape.h"
#include "autodiff/value_spec.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

Shape joined(const Shape& first, const Shape& second) {
  Shape all = first;
  for (const std::int64_t size : second.dims()) all.push_back(size);
  return all;
}

/// The identity matrix of `count`, its rows in `shape`: [count, shape...].
Tensor unit_vectors(std::int64_t count, DType dtype, const Shape& shape) {
  if (!is_plain(dtype)) throw TypeError("a Jacobian is one of numbers, got " + std::string(dtype_name(dtype)));
  if (count > std::numeric_limits<std::int32_t>::max())
    throw ResourceExhausted("a Jacobian of " + std::to_string(count) + " rows does not fit into memory");
  const auto rows = static_cast<std::int32_t>(count);
  const Tensor identity = one_hot(range(rows), rows, cast(constant(1), dtype), cast(constant(0), dtype));
  return reshape(identity, joined({count}, shape));
}

[[noreturn]] void advise(const char* function, const Error& error) {
  throw InvalidArgument(std::string(function) + ": an operation on the way cannot run for all rows at once (" +
                        error.what() + "); ask with {.vectorized = false} on a persistent tape");
}

void check_target(const char* function, const Tensor& target) {
  if (!target.is_defined()) throw TypeError(std::string(function) + ": the target holds no tensor");
  if (!value_spec(target).shape.is_fully_known())
    throw InvalidArgument(std::string(function) + ": needs a target of known shape, got " + target.shape().to_string());
}

/// Gradients of one target for each of the seeds [n, target's shape...]: [n, source's shape...], per source.
class SeededGradients {
 public:
  using Function = std::function<std::vector<Gradient>(const Tensor& seed)>;
  SeededGradients(const char* name, const Function& function, const JacobianOptions& options)
      : name_(name), function_(function), options_(options) {}

  std::vector<Gradient> of(const Tensor& seeds) const {
    return options_.vectorized ? vectorized(seeds) : one_by_one(seeds);
  }

 private:
  std::vector<Gradient> vectorized(const Tensor& seeds) const {
    Batch batch(seeds.shape()[0]);
    std::vector<Gradient> gradients;
    const Batch::Active active(batch);
    try {
      gradients = function_(batch.wrap(seeds));
      for (Gradient& gradient : gradients)
        if (gradient.has_value()) gradient = gradient.tensor();  // slices become dense while the batch is active
    } catch (const OutOfScope& error) {
      advise(name_, error);
    } catch (const Unimplemented& error) {
      advise(name_, error);
    }
    for (Gradient& gradient : gradients)
      if (gradient.has_value()) gradient = batch.members_outside(gradient.tensor());
    return gradients;
  }

  std::vector<Gradient> one_by_one(const Tensor& seeds) const {
    if (seeds.shape()[0] == 0) return vectorized(seeds);  // no pass tells the shapes
    std::vector<std::vector<Tensor>> rows;
    std::vector<Gradient> gradients;
    for (const Tensor& seed : unstack(seeds)) {
      gradients = function_(seed);
      rows.resize(gradients.size());
      for (std::size_t i = 0; i < gradients.size(); ++i)
        if (gradients[i].has_value()) rows[i].push_back(gradients[i].tensor());
    }
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i].has_value()) gradients[i] = stack(rows[i]);
    return gradients;
  }

  const char* name_;
  const Function& function_;
  const JacobianOptions& options_;
};

}  // namespace

std::vector<Gradient> GradientTape::jacobians_of(const Tensor& target, const std::vector<Tensor>& sources,
                                                 const JacobianOptions& options) {
  static constexpr char kName[] = "GradientTape.jacobian";
  check_target(kName, target);
  if (!options.vectorized && !tape_->is_persistent())
    throw FailedPrecondition(std::string(kName) + ": one pass per row needs a tape made with {.persistent = true}");
  const TensorSpec spec = value_spec(target);
  const std::function gradients = [&](const Tensor& seed) {
    return gradients_of({target}, sources, {{seed}, options.unconnected_gradients});
  };
  auto result =
      SeededGradients(kName, gradients, options).of(unit_vectors(spec.shape.num_elements(), spec.dtype, spec.shape));
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (result[i].has_value())
      result[i] = reshape(result[i].tensor(), joined(spec.shape, value_spec(sources[i]).shape));
  return result;
}

Gradient GradientTape::batch_jacobian_of(const Tensor& target, const Tensor& source, const JacobianOptions& options) {
  static constexpr char kName[] = "GradientTape.batch_jacobian";
  check_target(kName, target);
  if (!source.is_defined()) throw TypeError(std::string(kName) + ": the source holds no tensor");
  if (!options.vectorized && !tape_->is_persistent())
    throw FailedPrecondition(std::string(kName) + ": one pass per row needs a tape made with {.persistent = true}");
  const TensorSpec of = value_spec(target), by = value_spec(source);
  const std::string both = "target " + of.shape.to_string() + ", source " + by.shape.to_string();
  if (of.shape.rank() < 2 || by.shape.rank() < 2)
    throw InvalidArgument(std::string(kName) + ": target and source must have rank at least 2, got " + both);
  const std::int64_t batch = of.shape[0];
  if (by.shape[0] != batch)
    throw InvalidArgument(std::string(kName) + ": target and source must have the same first dimension, got " + both);

  // One seed per element of a row, the same for all rows.
  const Shape row = without_first(of.shape), source_row = without_first(by.shape);
  const std::int64_t count = row.num_elements();
  const Tensor seeds = broadcast_to(unit_vectors(count, of.dtype, joined({1}, row)), joined({count}, of.shape));
  const std::function gradients = [&](const Tensor& seed) {
    return gradients_of({target}, {source}, {{seed}, options.unconnected_gradients});
  };
  Gradient result = std::move(SeededGradients(kName, gradients, options).of(seeds)[0]);
  if (!result.has_value()) return result;
  const Tensor flat = reshape(result.tensor(), {count, batch, source_row.num_elements()});
  return reshape(transpose(flat, {1, 0, 2}), joined(joined({batch}, row), source_row));
}

Tensor forward_jacobian(const std::function<Tensor(const Tensor&)>& function, const Tensor& x) {
  const std::int64_t count = x.size();
  ForwardAccumulator forward(x, unit_vectors(count, x.dtype(), x.shape()), {.directions = count});
  const Tensor y = function(x);
  const Tensor columns = forward.jvp(y, UnconnectedGradients::zero);  // [x, y...]
  const Tensor flat = reshape(columns, {count, y.size()});
  return reshape(transpose(flat), joined(y.shape(), x.shape()));
}

Tensor hessian_of(const std::function<Tensor(const Tensor&)>& function, const Tensor& x) {
  const std::int64_t count = x.size();
  ForwardAccumulator forward(x, unit_vectors(count, x.dtype(), x.shape()), {.directions = count});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = function(x);
  const Gradient gradient = tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::zero});
  return reshape(forward.jvp(gradient.tensor(), UnconnectedGradients::zero).tensor(), joined(x.shape(), x.shape()));
}

Tensor hessian_vector_product_of(const std::function<Tensor(const Tensor&)>& function, const Tensor& x,
                                 const Tensor& v) {
  ForwardAccumulator forward(x, v);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = function(x);
  const Gradient gradient = tape.gradient(y, x, {.unconnected_gradients = UnconnectedGradients::zero});
  return forward.jvp(gradient.tensor(), UnconnectedGradients::zero);
}

}  // namespace capstan
