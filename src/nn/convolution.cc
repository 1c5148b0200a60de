#include "capstan/base/error.h"
#include "capstan/nn/layers.h"
#include "capstan/ops/nn.h"

namespace capstan::nn {
namespace {

void require_images(const std::string& layer, const Shape& input) {
  if (input.rank() != 4)
    throw InvalidArgument(layer + ": the input must be [batch, height, width, channels], got shape " +
                          input.to_string());
}

class Conv2DBody final : public LayerBody {
 public:
  Conv2DBody(std::int64_t filters, std::array<std::int64_t, 2> kernel_size, Activation activation,
             const Conv2DOptions& options)
      : LayerBody(options.name),
        filters_(filters),
        kernel_size_(kernel_size),
        activation_(std::move(activation)),
        options_(options) {
    if (filters < 1 || kernel_size[0] < 1 || kernel_size[1] < 1)
      throw InvalidArgument("Conv2D: the numbers of filters and the kernel's sizes must be positive");
  }

  std::vector<NamedChild> children() const override {
    std::vector<NamedChild> all;
    if (kernel_) all.push_back({"kernel", *kernel_});
    if (bias_) all.push_back({"bias", *bias_});
    return all;
  }

 private:
  void build(const Shape& input) override {
    require_images("Conv2D '" + name() + "'", input);
    if (input[3] < 0)
      throw InvalidArgument("Conv2D '" + name() + "': the number of channels must be known, got shape " +
                            input.to_string());
    kernel_.emplace(
        options_.kernel_initializer(Shape{kernel_size_[0], kernel_size_[1], input[3], filters_}, DType::float32),
        VariableOptions{.name = name() + "/kernel"});
    if (options_.use_bias)
      bias_.emplace(options_.bias_initializer(Shape{filters_}, DType::float32),
                    VariableOptions{.name = name() + "/bias"});
  }

  void forget() override {
    kernel_.reset();
    bias_.reset();
  }

  Tensor call(const Tensor& x, const CallOptions&) override {
    require_images("Conv2D '" + name() + "'", x.shape());
    Tensor y = conv2d(x, *kernel_,
                      {.strides = {options_.strides[0], options_.strides[1]},
                       .padding = options_.padding,
                       .dilations = {options_.dilations[0], options_.dilations[1]}});
    if (bias_) y = bias_add(std::move(y), *bias_);
    return activation_(std::move(y));
  }

  const std::int64_t filters_;
  const std::array<std::int64_t, 2> kernel_size_;
  const Activation activation_;
  const Conv2DOptions options_;
  std::optional<Variable> kernel_;
  std::optional<Variable> bias_;
};

class MaxPool2DBody final : public LayerBody {
 public:
  MaxPool2DBody(std::array<std::int64_t, 2> size, const MaxPool2DOptions& options)
      : LayerBody("max_pool2d"), size_(size), options_(options) {}

 private:
  Tensor call(const Tensor& x, const CallOptions&) override {
    require_images("MaxPool2D", x.shape());
    const auto stride = [&](std::size_t i) { return options_.strides[i] ? options_.strides[i] : size_[i]; };
    return max_pool(x, {.ksize = {size_[0], size_[1]}, .strides = {stride(0), stride(1)}, .padding = options_.padding});
  }

  const std::array<std::int64_t, 2> size_;
  const MaxPool2DOptions options_;
};

}  // namespace

Conv2D::Conv2D(std::int64_t filters, std::array<std::int64_t, 2> kernel_size, Activation activation,
               const Conv2DOptions& options)
    : Layer(std::make_shared<Conv2DBody>(filters, kernel_size, std::move(activation), options)) {}
MaxPool2D::MaxPool2D(std::array<std::int64_t, 2> pool_size, const MaxPool2DOptions& options)
    : Layer(std::make_shared<MaxPool2DBody>(pool_size, options)) {}

}  // namespace capstan::nn
