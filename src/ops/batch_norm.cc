// Normalization of images by the statistics of each channel, and its gradients.
#include "capstan/ops/array.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "capstan/ops/nn.h"
#include "ops/nn.h"
#include "ops/records.h"
#include "ops/window.h"

namespace capstan {
namespace {

/// Checks the layout and the images' rank; returns where the channels stand.
int checked_channel_axis(const InferContext& context, const std::string& data_format, std::size_t input) {
  if (data_format != "NHWC" && data_format != "NCHW" && data_format != "NDHWC" && data_format != "NCDHW")
    context.fail("attribute 'data_format' must be \"NHWC\", \"NCHW\", \"NDHWC\" or \"NCDHW\", got \"" + data_format +
                 "\"");
  const int rank = static_cast<int>(data_format.size());
  context.require_rank(input, rank, "x");
  return channel_axis(data_format, rank);
}

/// Input `i` must be a vector with one number per channel; what both say of the channels.
std::int64_t merge_channels(const InferContext& context, std::int64_t channels, std::size_t i, const char* name) {
  context.require_rank(i, 1, name);
  const Shape& shape = context.input_shape(i);
  const std::int64_t size = shape.rank() == 1 ? shape[0] : Shape::kUnknown;
  if (channels >= 0 && size >= 0 && channels != size)
    context.fail("'" + std::string(name) + "' must have one number for each of the " + std::to_string(channels) +
                 " channels, got shape " + shape.to_string());
  return channels < 0 ? size : channels;
}

Shape images_of(const Shape& shape, const std::string& data_format, int channel, std::int64_t channels) {
  Shape images = shape.has_rank() ? shape : Shape::unknown_dims(static_cast<int>(data_format.size()));
  images.set_dim(channel, channels);
  return images;
}

void batch_norm_shape(InferContext& context) {
  const auto& attributes = context.attributes<BatchNormAttributes>();
  const int channel = checked_channel_axis(context, attributes.data_format, 0);
  std::int64_t channels = context.input_shape(0).has_rank() ? context.input_shape(0)[channel] : Shape::kUnknown;
  channels = merge_channels(context, channels, 1, "scale");
  channels = merge_channels(context, channels, 2, "offset");
  const bool reads_statistics = !attributes.is_training || attributes.exponential_avg_factor != 1.0f;
  for (std::size_t i : {std::size_t{3}, std::size_t{4}}) {
    const char* name = i == 3 ? "mean" : "variance";
    context.require_rank(i, 1, name);
    if (reads_statistics) channels = merge_channels(context, channels, i, name);
  }
  context.set_output(0, images_of(context.input_shape(0), attributes.data_format, channel, channels));
  for (std::size_t i = 1; i < 5; ++i) context.set_output(i, Shape{channels});
  context.set_output(5, Shape{});
}

void batch_norm_grad_shape(InferContext& context) {
  const auto& attributes = context.attributes<BatchNormGradAttributes>();
  const int channel = checked_channel_axis(context, attributes.data_format, 1);
  const Shape images = context.merge(context.input_shape(0), context.input_shape(1), "'y_backprop' and 'x'");
  std::int64_t channels = images.has_rank() ? images[channel] : Shape::kUnknown;
  channels = merge_channels(context, channels, 2, "scale");
  channels = merge_channels(context, channels, 3, "reserve_space_1");
  channels = merge_channels(context, channels, 4, "reserve_space_2");
  context.set_output(0, images_of(images, attributes.data_format, channel, channels));
  context.set_output(1, Shape{channels});
  context.set_output(2, Shape{channels});
  context.set_output(3, Shape{0});
  context.set_output(4, Shape{0});
}

Gradients batch_norm_gradient(const OpCall& call, std::span<const Gradient> dy) {
  const auto& of = call.attributes<BatchNormAttributes>();
  Gradients gradients(5);
  if (!dy[0].has_value()) return gradients;
  const BatchNormGradAttributes attributes{of.epsilon, of.data_format, of.is_training};
  const Tensor& mean = of.is_training ? call.output(3) : call.input(3);
  const Tensor& variance = of.is_training ? call.output(4) : call.input(4);
  auto parts = apply_all(fused_batch_norm_grad_v3_op,
                         {dy[0].tensor(), call.input(0), call.input(1), mean, variance, call.output(5)}, &attributes);
  for (std::size_t i = 0; i < 3; ++i) gradients[i] = std::move(parts[i]);
  return gradients;
}

/// The gradient of the gradient, written out. With m(.) the mean over all but the channels, x' = (x - m(x)) r and
/// r = 1 / sqrt(variance + epsilon), the op computes in training
///   dx = scale r (dy - m(dy) - x' m(dy x')),  dscale = sum(dy x'),  doffset = sum(dy).
/// gx, gs and go are what comes in for these three.
class BatchNormGradGradient {
 public:
  BatchNormGradGradient(const OpCall& call, std::span<const Gradient> g)
      : of_(call.attributes<BatchNormGradAttributes>()),
        images_(call.input_dtype(1)),
        rank_(call.input_shape(1).rank()),
        dy_(wide(call.input(0))),
        x_(wide(call.input(1))),
        scale_(spread(call.input(2))) {
    gx_ = g[0].has_value() ? wide(g[0].tensor()) : zeros_like(x_);
    gs_ = g[1].has_value() ? spread(g[1].tensor()) : zeros_like(scale_);
    go_ = g[2].has_value() ? spread(g[2].tensor()) : zeros_like(scale_);
    // In training the statistics depend on x, so derivatives have to pass through them: not the saved ones.
    const Tensor center = of_.is_training ? mean(x_) : spread(call.input(3));
    const Tensor variance = of_.is_training ? mean(square(x_ - center)) : spread(call.input(4));
    r_ = rsqrt(variance + of_.epsilon);
    normal_ = (x_ - center) * r_;
  }

  Gradients gradients() const {
    Gradients result(6);
    const Tensor factor = scale_ * r_;
    if (!of_.is_training) {
      result[0] = narrow(gx_ * factor + gs_ * normal_ + go_);
      result[1] = narrow(gs_ * dy_ * r_);
      result[2] = per_channel(r_ * sum(gx_ * dy_));
      return result;
    }
    const Tensor gx_mean = mean(gx_), dy_mean = mean(dy_), gx_normal = mean(gx_ * normal_),
                 dy_normal = mean(dy_ * normal_);
    const Tensor covariance = mean(gx_ * dy_) - gx_mean * dy_mean - gx_normal * dy_normal;
    result[0] = narrow(factor * (gx_ - gx_mean - normal_ * gx_normal) + gs_ * normal_ + go_);
    // Through x' as it stands in the formulas, then through its own dependence on x, then through r.
    const Tensor through = gs_ * dy_ - factor * (gx_ * dy_normal + dy_ * gx_normal);
    result[1] =
        narrow(r_ * (through - mean(through) - normal_ * mean(through * normal_)) - factor * r_ * covariance * normal_);
    result[2] = per_channel(r_ * covariance * count());
    return result;
  }

 private:
  Axes axes() const {
    std::vector<std::int64_t> all;
    const int channel = channel_axis(of_.data_format, rank_);
    for (int axis = 0; axis < rank_; ++axis)
      if (axis != channel) all.push_back(axis);
    return all;
  }
  Tensor mean(const Tensor& x) const { return reduce_mean(x, {.axis = axes(), .keepdims = true}); }
  Tensor sum(const Tensor& x) const { return reduce_sum(x, {.axis = axes(), .keepdims = true}); }
  Tensor count() const { return sum(ones_like(x_)); }
  Tensor wide(const Tensor& x) const { return images_ == DType::float32 ? x : cast(x, DType::float32); }
  Tensor narrow(const Tensor& x) const { return images_ == DType::float32 ? x : cast(x, images_); }
  /// One number per channel, broadcasting against the images; and back.
  Tensor spread(const Tensor& vector) const {
    Shape shape{-1};
    if (is_channels_first(of_.data_format))
      for (int axis = 2; axis < rank_; ++axis) shape.push_back(1);
    return reshape(vector, shape);
  }
  Tensor per_channel(const Tensor& spread_out) const { return reshape(spread_out, Shape{-1}); }

  const BatchNormGradAttributes& of_;
  DType images_;
  int rank_;
  Tensor dy_, x_, scale_, gx_, gs_, go_, r_, normal_;
};

}  // namespace

const OpDef fused_batch_norm_v3_op{
    .signature =
        "FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, batch_mean: U, "
        "batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U); "
        "T: {float16, bfloat16, float32}; U: {float32}",
    .summary = "Normalizes images by the mean and the variance of each channel, then scales and shifts them.",
    .shape = batch_norm_shape,
    .gradient = [](const OpCall& call, std::span<const Gradient> dy) { return batch_norm_gradient(call, dy); },
    .attributes = attributes<BatchNormAttributes>,
    .saves = Saves::only({0, 1, 3, 4}, {3, 4, 5}),
};

const OpDef fused_batch_norm_grad_v3_op{
    .signature =
        "FusedBatchNormGradV3(y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, "
        "reserve_space_3: U) -> (x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, "
        "reserve_space_5: U); T: {float16, bfloat16, float32}; U: {float32}",
    .summary = "Gradient of FusedBatchNormV3.",
    .shape = batch_norm_grad_shape,
    .gradient = [](const OpCall& call,
                   std::span<const Gradient> g) { return BatchNormGradGradient(call, g).gradients(); },
    .attributes = attributes<BatchNormGradAttributes>,
    .saves = Saves::only({0, 1, 2, 3, 4}),
};

FusedBatchNorm fused_batch_norm(Tensor x, Tensor scale, Tensor offset, Tensor mean, Tensor variance,
                                const FusedBatchNormOptions& options) {
  const BatchNormAttributes attributes{options.epsilon, options.exponential_avg_factor, options.data_format,
                                       options.is_training};
  auto parts = apply_all(fused_batch_norm_v3_op, {std::move(x), scale, offset, mean, variance}, &attributes);
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

Moments moments(Tensor x, const ReduceOptions& options) {
  // Half types would lose the variance of long sums.
  const DType dtype = x.dtype();
  const bool is_half = dtype == DType::float16 || dtype == DType::bfloat16;
  if (is_half) x = cast(std::move(x), DType::float32);
  const Tensor center = reduce_mean(x, {.axis = options.axis, .keepdims = true});
  Tensor variance = reduce_mean(square(x - center), options);
  Tensor mean = options.keepdims ? center : reshape(center, variance.shape());
  if (!is_half) return {std::move(mean), std::move(variance)};
  return {cast(std::move(mean), dtype), cast(std::move(variance), dtype)};
}

Tensor batch_normalization(Tensor x, Tensor mean, Tensor variance, Tensor offset, Tensor scale,
                           double variance_epsilon) {
  Tensor factor = rsqrt(variance + variance_epsilon);
  if (scale.is_defined()) factor = factor * scale;
  const Tensor shift = offset.is_defined() ? offset - mean * factor : negative(mean * factor);
  return x * factor + shift;
}

Tensor layer_normalization(Tensor x, Tensor scale, Tensor offset, double epsilon) {
  const auto [mean, variance] = moments(x, {.axis = -1, .keepdims = true});
  Tensor y = (x - mean) * rsqrt(variance + epsilon);
  if (scale.is_defined()) y = y * scale;
  return offset.is_defined() ? y + offset : y;
}

}  // namespace capstan
