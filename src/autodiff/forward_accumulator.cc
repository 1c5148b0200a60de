#include "capstan/autodiff/forward_accumulator.h"

#include <numeric>
#include <utility>

#include "autodiff/accumulator.h"
#include "autodiff/value_spec.h"
#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"

namespace capstan {
namespace {

Shape with_directions(std::int64_t directions, Shape shape) {
  if (directions >= 0) shape.insert(0, directions);
  return shape;
}

std::int64_t checked(std::int64_t directions) {
  if (directions < -1)
    throw InvalidArgument("ForwardAccumulator: directions must be a number of directions, or -1 for one alone, got " +
                          std::to_string(directions));
  return directions;
}

/// A tangent that fits, for a primal without derivatives in the primal's own type.
Tensor checked(const TensorSpec& primal, const Tensor& tangent, std::int64_t directions) {
  if (!tangent.is_defined()) throw TypeError("ForwardAccumulator.watch: the tangent holds no tensor");
  const Shape expected = with_directions(directions, primal.shape);
  if (!expected.is_compatible_with(tangent.shape()))
    throw InvalidArgument("ForwardAccumulator.watch: the tangent must have the shape " + expected.to_string() +
                          (directions < 0 ? " of its primal" : ", that of its primal behind the directions") +
                          ", got " + tangent.shape().to_string());
  if (!is_trainable(primal.dtype)) {
    warn("ForwardAccumulator.watch: a tensor of type " + std::string(dtype_name(primal.dtype)) +
         " has no derivatives; use floating or complex ones");
    return cast(tangent, primal.dtype);
  }
  if (tangent.dtype() != primal.dtype)
    throw TypeError("ForwardAccumulator.watch: the tangent must have the type " +
                    std::string(dtype_name(primal.dtype)) + " of its primal, got " +
                    std::string(dtype_name(tangent.dtype())));
  return tangent;
}

/// Slices for each direction, of values [directions, n, ...], as dense tensors [directions, dense shape...].
Tensor dense_of_each(const Tensor& values, const IndexedSlices& slices) {
  if (slices.values.shape().rank() < 1) return to_tensor(slices);  // throws
  std::vector<std::int64_t> swapped(static_cast<std::size_t>(values.shape().rank()));
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[0], swapped[1]);
  return transpose(to_tensor({transpose(values, swapped), slices.indices, slices.dense_shape}), swapped);
}

}  // namespace

ForwardAccumulator::ForwardAccumulator(const ForwardAccumulatorOptions& options)
    : directions_(checked(options.directions)), accumulator_(new Accumulator(directions_)) {
  accumulator_->start();
}
ForwardAccumulator::ForwardAccumulator(std::initializer_list<Tensor> primals, std::initializer_list<Tensor> tangents,
                                       const ForwardAccumulatorOptions& options)
    : ForwardAccumulator(options) {
  watch_all(primals, tangents);
}
ForwardAccumulator::~ForwardAccumulator() { accumulator_->close(); }

void ForwardAccumulator::watch_tensor(const Tensor& primal, const Tensor& tangent) {
  accumulator_->check_thread("ForwardAccumulator.watch");
  if (!primal.is_defined()) throw TypeError("ForwardAccumulator.watch: the primal holds no tensor");
  accumulator_->watch(primal, checked(value_spec(primal), tangent, directions_));
}

void ForwardAccumulator::watch_all(const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents) {
  if (primals.size() != tangents.size())
    throw InvalidArgument("ForwardAccumulator: needs one tangent per primal, got " + std::to_string(primals.size()) +
                          " primals and " + std::to_string(tangents.size()) + " tangents");
  for (std::size_t i = 0; i < primals.size(); ++i) watch_tensor(primals[i], tangents[i]);
}

Gradient ForwardAccumulator::jvp_of(const Tensor& target, UnconnectedGradients unconnected) const {
  accumulator_->check_thread("ForwardAccumulator.jvp");
  if (!target.is_defined()) throw TypeError("ForwardAccumulator.jvp: the target holds no tensor");
  if (Tensor tangent = accumulator_->tangent_of(target); tangent.is_defined()) return tangent;
  if (unconnected == UnconnectedGradients::none)
    return Gradient::missing(
        "there is no tangent: the target does not depend on the primals by operations that the "
        "accumulator followed");
  const TensorSpec spec = value_spec(target);
  return zeros(with_directions(directions_, spec.shape), spec.dtype);
}

Gradient ForwardAccumulator::jvp(const Gradient& target, UnconnectedGradients unconnected) const {
  if (!target.has_value()) return Gradient::missing("there is no tangent of a missing gradient: " + target.reason());
  if (!target.is_slices()) return jvp_of(target.tensor(), unconnected);
  const IndexedSlices& slices = target.slices();
  const Gradient values = jvp_of(slices.values, unconnected);
  if (!values.has_value()) return values;
  if (directions_ >= 0) return dense_of_each(values.tensor(), slices);
  return IndexedSlices{values.tensor(), slices.indices, slices.dense_shape};
}

void ForwardAccumulator::stop() {
  accumulator_->check_thread("ForwardAccumulator.stop");
  accumulator_->stop();
}
void ForwardAccumulator::resume() {
  accumulator_->check_thread("ForwardAccumulator.resume");
  if (accumulator_->is_recording())
    throw InvalidArgument("ForwardAccumulator.resume: the accumulator is already recording");
  accumulator_->start();
}
bool ForwardAccumulator::is_recording() const {
  accumulator_->check_thread("ForwardAccumulator.is_recording");
  return accumulator_->is_recording();
}

}  // namespace capstan
