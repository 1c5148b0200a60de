#include "capstan/autodiff/check_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "capstan/autodiff/record.h"
#include "capstan/base/error.h"
#include "capstan/ops/cast.h"

namespace capstan {
namespace {

using Complex = std::complex<double>;

bool is_differentiable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

std::vector<Complex> elements_of(const Tensor& tensor) {
  if (is_complex(tensor.dtype())) return cast(tensor, DType::complex128).to_vector<Complex>();
  const auto values = cast(tensor, DType::float64).to_vector<double>();
  return {values.begin(), values.end()};
}

Tensor tensor_of(const std::vector<Complex>& elements, const Shape& shape, DType dtype) {
  if (is_complex(dtype)) return cast(constant(elements, shape), dtype);
  std::vector<double> values;
  for (const Complex& element : elements) values.push_back(element.real());
  return cast(constant(values, shape), dtype);
}

std::vector<Tensor> in_double(std::vector<Tensor> arguments) {
  for (Tensor& argument : arguments) {
    if (is_floating(argument.dtype())) argument = cast(argument, DType::float64);
    if (is_complex(argument.dtype())) argument = cast(argument, DType::complex128);
  }
  return arguments;
}

/// How finely a type resolves, which decides on steps and tolerances.
enum class Precision { half, single, twice };
Precision precision_of(const std::vector<Tensor>& arguments) {
  Precision least = Precision::twice;
  for (const Tensor& argument : arguments) {
    if (!is_differentiable(argument.dtype())) continue;
    const std::size_t bytes = dtype_size(argument.dtype()) / (is_complex(argument.dtype()) ? 2 : 1);
    least = std::min(least, bytes == 8 ? Precision::twice : bytes == 4 ? Precision::single : Precision::half);
  }
  return least;
}
double pick(Precision precision, double half, double single, double twice) {
  return precision == Precision::half ? half : precision == Precision::single ? single : twice;
}

/// Weights between a half and one and a half, without a pattern that a mistake could hide behind.
Tensor weights_for(const Tensor& output, std::size_t number) {
  std::vector<Complex> weights;
  auto next = [at = 0.618 * static_cast<double>(number + 1)]() mutable {
    at += 0.6180339887498949;
    return 0.5 + at - std::floor(at);
  };
  for (std::int64_t i = 0; i < output.size(); ++i) {
    const double real = next();
    weights.emplace_back(real, is_complex(output.dtype()) ? next() : 0.);
  }
  return tensor_of(weights, output.shape(), output.dtype());
}

/// Re(sum of conj(seed) * output): what a gradient with these seeds is the gradient of.
double weighted_sum(std::span<const Tensor> outputs, std::span<const Tensor> seeds) {
  double sum = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!is_differentiable(outputs[k].dtype())) continue;
    const auto values = elements_of(outputs[k]), weights = elements_of(seeds[k]);
    for (std::size_t i = 0; i < values.size(); ++i) sum += (std::conj(weights[i]) * values[i]).real();
  }
  return sum;
}

/// Differences of `function` of the arguments, seen through `value`.
class Differences {
 public:
  Differences(std::function<double(std::span<const Tensor>)> value, std::vector<Tensor> arguments, double step)
      : value_(std::move(value)), arguments_(std::move(arguments)), step_(step) {}

  std::vector<Complex> by(std::size_t argument) {
    const Tensor original = arguments_[argument];
    std::vector<Complex> elements = elements_of(original), result;
    for (Complex& element : elements) {
      const auto slope = [&](Complex direction) {
        const Complex before = element;
        const double step = step_ * std::max(1., std::abs(before));
        const auto at = [&](double by) {
          element = before + by * direction;
          arguments_[argument] = tensor_of(elements, original.shape(), original.dtype());
          return value_(arguments_);
        };
        const double difference = at(step) - at(-step);
        element = before;
        return difference / (2 * step);
      };
      result.emplace_back(slope(1), is_complex(original.dtype()) ? slope(Complex(0, 1)) : 0.);
    }
    arguments_[argument] = original;
    return result;
  }

 private:
  std::function<double(std::span<const Tensor>)> value_;
  std::vector<Tensor> arguments_;
  const double step_;
};

double step_for(double given, const std::vector<Tensor>& arguments) {
  if (!(given >= 0) || std::isinf(given))
    throw InvalidArgument(
        fmt::format("numeric gradients need a positive finite step, or 0 for one that suits, got {}", given));
  return given > 0 ? given : pick(precision_of(arguments), 6e-2, 5e-3, 1e-5);
}

std::vector<std::int64_t> coordinates(std::int64_t at, const Shape& shape) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int i = shape.rank(); i-- > 0; at /= shape[i]) index[static_cast<std::size_t>(i)] = at % shape[i];
  return index;
}

std::string text_of(Complex value) {
  return value.imag() == 0 ? fmt::format("{:.9g}", value.real())
                           : fmt::format("{:.9g}{:+.9g}i", value.real(), value.imag());
}

/// One comparison of a function's gradients.
class Checking {
 public:
  Checking(const detail::FlatFunction& function, std::vector<Tensor> arguments, const GradientCheckOptions& options)
      : function_(function), arguments_(std::move(arguments)), options_(options) {
    const Precision precision = precision_of(arguments_);
    if (options_.relative <= 0) options_.relative = pick(precision, 1e-1, 2e-2, 1e-5);
    if (options_.absolute <= 0) options_.absolute = pick(precision, 1e-1, 2e-3, 1e-6);
    options_.step = step_for(options_.step, arguments_);
  }

  GradientCheck run() {
    find_gradients();
    Differences differences([this](std::span<const Tensor> at) { return weighted_sum(function_(at), seeds_); },
                            arguments_, options_.step);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!is_differentiable(arguments_[i].dtype())) continue;
      const StopRecording silent;
      compare(i, differences.by(i));
    }
    for (std::size_t i = 0; options_.forward && i < arguments_.size(); ++i)
      if (is_differentiable(arguments_[i].dtype())) compare_forward(i);
    return std::move(check_);
  }

 private:
  void find_gradients() {
    detail::Followed followed(arguments_, {.persistent = false, .name = "check_gradients"});
    const auto outputs = function_(followed.arguments());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      seeds_.push_back(is_differentiable(outputs[k].dtype()) ? weights_for(outputs[k], k) : Tensor());
    if (outputs.size() == 1 && outputs[0].size() == 1 && seeds_[0].is_defined())
      seeds_[0] = tensor_of({1.}, outputs[0].shape(), outputs[0].dtype());  // the report shows its own gradient
    followed.end(outputs);
    gradients_ = followed.gradients(seeds_);
  }

  std::vector<Complex> gradient(std::size_t i) {
    if (gradients_[i].has_value()) return elements_of(gradients_[i].tensor());
    return std::vector<Complex>(static_cast<std::size_t>(arguments_[i].size()));
  }

  bool is_close(Complex a, Complex b) const {
    return std::abs(a - b) <= options_.absolute + options_.relative * std::max(std::abs(a), std::abs(b));
  }

  void compare(std::size_t argument, const std::vector<Complex>& numeric) {
    if (!gradients_[argument].has_value())
      check_.remarks.push_back(fmt::format("argument {}: {}", argument, gradients_[argument].reason()));
    const auto analytic = gradient(argument);
    for (std::size_t i = 0; i < numeric.size(); ++i, ++check_.elements) {
      const double difference = std::abs(analytic[i] - numeric[i]);
      if (!is_close(analytic[i], numeric[i])) check_.agrees = false;
      const bool is_first = check_.elements == 0;
      if (!is_first && !(difference > check_.difference) && !(std::isnan(difference) && !std::isnan(check_.difference)))
        continue;
      check_.argument = argument;
      check_.index = coordinates(static_cast<std::int64_t>(i), arguments_[argument].shape());
      check_.analytic = analytic[i];
      check_.numeric = numeric[i];
      check_.difference = difference;
    }
  }

  /// <seed, J t> = <J^T seed, t>.
  void compare_forward(std::size_t argument) {
    try {
      const Tensor tangent = weights_for(arguments_[argument], argument + 7);
      const std::vector<Tensor> renewed = detail::renewed(arguments_);
      const ForwardAccumulator forward(renewed[argument], tangent);
      std::vector<Tensor> tangents;
      for (const Tensor& output : function_(renewed))
        tangents.push_back(forward.jvp(output, UnconnectedGradients::zero).tensor());
      const double by_forward = weighted_sum(tangents, seeds_);
      double by_reverse = 0;
      const auto direction = elements_of(tangent), slope = gradient(argument);
      for (std::size_t i = 0; i < slope.size(); ++i) by_reverse += (std::conj(direction[i]) * slope[i]).real();
      if (is_close(by_forward, by_reverse)) return;
      check_.agrees = false;
      check_.remarks.push_back(fmt::format("argument {}: forward mode gives {:.9g} along one direction, reverse {:.9g}",
                                           argument, by_forward, by_reverse));
    } catch (const Unimplemented& error) {
      check_.remarks.push_back(fmt::format("argument {}: forward mode was not compared: {}", argument, error.what()));
    }
  }

  const detail::FlatFunction& function_;
  const std::vector<Tensor> arguments_;
  GradientCheckOptions options_;
  std::vector<Tensor> seeds_;
  std::vector<Gradient> gradients_;
  GradientCheck check_;
};

}  // namespace

std::string GradientCheck::to_string() const {
  std::string text = fmt::format("check_gradients: {}, {} elements", agrees ? "agrees" : "DIFFERS", elements);
  if (elements)
    text += fmt::format("; worst at argument {}, index [{}]: gradient {}, numeric {}, difference {:.3g}", argument,
                        fmt::join(index, ","), text_of(analytic), text_of(numeric), difference);
  for (const std::string& remark : remarks) text += "\n  " + remark;
  return text;
}

std::ostream& operator<<(std::ostream& out, const GradientCheck& check) { return out << check.to_string(); }

namespace detail {

std::vector<Tensor> numeric_gradients(const FlatFunction& function, std::vector<Tensor> arguments,
                                      const NumericGradientOptions& options) {
  for (const Tensor& argument : arguments)
    if (!is_differentiable(argument.dtype()))
      throw TypeError("numeric_gradient: needs a floating or complex tensor, got " +
                      std::string(dtype_name(argument.dtype())));
  if (options.in_double) arguments = in_double(std::move(arguments));
  const StopRecording silent;
  const auto sum = [&](std::span<const Tensor> at) {
    double total = 0;
    for (const Tensor& output : function(at))
      for (const Complex& element : elements_of(output)) total += element.real();
    return total;
  };
  Differences differences(sum, arguments, step_for(options.step, arguments));
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    gradients.push_back(tensor_of(differences.by(i), arguments[i].shape(),
                                  is_complex(arguments[i].dtype()) ? DType::complex128 : DType::float64));
  return gradients;
}

GradientCheck check_gradients_of(const FlatFunction& function, std::vector<Tensor> arguments,
                                 const GradientCheckOptions& options) {
  if (options.in_double) arguments = in_double(std::move(arguments));
  return Checking(function, std::move(arguments), options).run();
}

}  // namespace detail
}  // namespace capstan
