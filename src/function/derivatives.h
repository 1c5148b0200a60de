// The derivatives of a function: its forward form, which hands out intermediate values, and the functions that compute
// gradients and tangents from them. All are made by feeding the graph's nodes to a tape or an accumulator as if they
// had just been recorded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "function/traced_function.h"

namespace capstan {

/// A function of gradients or tangents. Its arguments are those that are there, in order; its captures are tensors of
/// the graph of the forward form, or of the world outside.
struct DerivativeFunction {
  /// Where the derivative with respect to one input, or that of one output, stands among the results.
  struct Place {
    enum class Kind { none, dense, slices, slices_of_shape };
    Kind kind = Kind::none;
    std::size_t first = 0;
  };
  TracedFunctionPtr function;
  std::vector<Place> places;

  Gradient gradient_at(std::size_t i, std::span<const Tensor> results) const;
};

class Derivatives {
 public:
  /// `full`: for derivatives of any order and tangents.
  Derivatives(const TracedFunction& function, bool full);

  /// The function with its results and then what derivatives need besides.
  const TracedFunctionPtr& forward() const { return forward_; }
  std::size_t result_count() const { return result_count_; }
  /// The outputs of the forward form that gradients may arrive at.
  std::size_t recorded_count() const { return is_full_ ? forward_->outputs().size() : result_count_; }

  /// The function whose derivatives these are; its outputs are the first of the forward form.
  const TracedFunctionPtr& extended() const { return extended_; }
  /// What the forward form hands out besides the results, in order.
  const std::vector<Endpoint>& sides() const { return sides_; }
  /// Do derivatives ask for the value of this input?
  bool needs_input(std::size_t i) const { return needed_inputs_[i]; }
  /// Or of this result?
  bool needs_result(std::size_t k) const { return needed_results_[k]; }

  /// From the gradients of the outputs that have one to those of the inputs.
  const DerivativeFunction& backward(const std::vector<bool>& has_gradient) const;
  /// From the tangents of the inputs that have one to those of the outputs.
  const DerivativeFunction& tangents(const std::vector<bool>& has_tangent) const;

  /// The value for a capture of such a function in one call of the forward form.
  Tensor value_of(const Tensor& capture, std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;
  /// The record of one call of the forward form.
  static NotedOperation note(const std::shared_ptr<const Derivatives>& of, std::vector<Tensor> inputs,
                             std::vector<Tensor> outputs);

 private:
  bool add_sides(const TracedFunction& derivative);
  void set_forward();
  /// Are all captures of the graph among what the forward form hands out?
  bool is_served(const TracedFunction& derivative) const;
  DerivativeFunction with_zeros(const std::string& name, const DerivativeFunction& all,
                                const std::vector<bool>& present, std::span<const Endpoint> stand_for) const;
  DerivativeFunction make_backward(const std::vector<bool>& has_gradient) const;
  DerivativeFunction make_tangents(const std::vector<bool>& has_tangent) const;

  const bool is_full_;
  const std::size_t result_count_;
  std::shared_ptr<const GraphBody> traced_graph_;  // that of the function itself
  TracedFunctionPtr extended_;                     // with calls, branches and loops in their forward form
  std::vector<Endpoint> sides_;
  TracedFunctionPtr forward_;
  std::map<Endpoint, std::size_t> input_of_, output_of_;
  std::vector<bool> needed_inputs_, needed_results_;
  using ByMask = std::map<std::vector<bool>, DerivativeFunction>;
  const DerivativeFunction& find_or_make(ByMask& kept, const std::vector<bool>& mask,
                                         const std::function<DerivativeFunction()>& make) const;

  mutable std::mutex mutex_;
  mutable ByMask backward_, tangents_;
};

}  // namespace capstan
