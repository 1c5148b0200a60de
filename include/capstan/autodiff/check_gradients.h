// Are a function's gradients right? Compared with differences of its values, and forward mode with reverse.
//
//   if (auto check = check_gradients(f, std::tuple(x, w)); !check) std::cerr << check << '\n';
//   // check_gradients: worst at argument 1, index [0,2]: gradient 3.5, numeric 4, difference 0.5 ...
#pragma once

#include <complex>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "capstan/autodiff/derivatives.h"

namespace capstan {

struct NumericGradientOptions {
  double step = 0;        // relative to elements above 1; 0: what suits the type
  bool in_double = true;  // floating arguments become float64 (complex ones complex128); else the function's own types
};

struct GradientCheckOptions {
  double step = 0;        // as above
  bool in_double = true;  // as above
  double relative = 0;    // allowed differences; 0: what suits the type
  double absolute = 0;
  bool forward = true;  // compare forward mode with reverse, one direction for each argument
};

struct GradientCheck {
  /// What passed, and how far off the worst element is.
  bool agrees = true;
  std::size_t elements = 0;  // compared
  std::size_t argument = 0;  // of the worst element: number of the tensor, in the order of flattening
  std::vector<std::int64_t> index;
  std::complex<double> analytic = 0, numeric = 0;
  double difference = 0;
  /// Anything else to say: missing gradients, forward mode.
  std::vector<std::string> remarks;

  explicit operator bool() const { return agrees; }
  std::string to_string() const;
};
std::ostream& operator<<(std::ostream& out, const GradientCheck& check);

namespace detail {
using FlatFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
std::vector<Tensor> numeric_gradients(const FlatFunction& function, std::vector<Tensor> arguments,
                                      const NumericGradientOptions& options);
GradientCheck check_gradients_of(const FlatFunction& function, std::vector<Tensor> arguments,
                                 const GradientCheckOptions& options);

template <class Function, class Arguments>
FlatFunction flat_function(const Function& function, const Arguments& arguments) {
  return [&function, &arguments](std::span<const Tensor> flat) {
    return nest::flatten(call_spread(function, nest::rebuild(arguments, flat)));
  };
}
}  // namespace detail

/// The gradient of the sum of function(x) by central differences: float64, or complex128 for complex x. Calls the
/// function twice for each element (four times for complex ones). Throws InvalidArgument for a negative or infinite
/// step.
template <class Function>
Tensor numeric_gradient(const Function& function, const Tensor& x, const NumericGradientOptions& options = {}) {
  return detail::numeric_gradients(detail::flat_function(function, x), {x}, options)[0];
}

/// Compares a function's gradients by all its floating and complex arguments with differences. `arguments` is one
/// argument or a tuple of them. Outputs are weighed by numbers around 1, unless there is one element alone. A missing
/// gradient counts as zeros. Wrong gradients are no error, a bad step is, as above.
template <class Function, nest::Structure Arguments>
GradientCheck check_gradients(const Function& function, const Arguments& arguments,
                              const GradientCheckOptions& options = {}) {
  return detail::check_gradients_of(detail::flat_function(function, arguments), nest::flatten(arguments), options);
}

}  // namespace capstan
