// What a `Function` is without the types of its callable: the traces, and which of them serves a call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capstan/op/infer.h"

namespace capstan {

class TracedFunction;

struct FunctionOptions {
  std::string name = "function";
  /// Give shapes that changed from call to call an unknown size in place of a new trace each.
  bool reduce_retracing = false;
  /// Types and shapes of all tensors among the arguments, in order; calls that do not fit throw TypeError.
  std::optional<std::vector<TensorSpec>> input_signature = {};
};

namespace detail {

/// The arguments of one call: tensors and variables' handles in order, and in text whatever else decides about a trace.
struct Arguments {
  std::vector<Tensor> tensors;
  std::string host;
};

/// What a traced body returned.
struct TraceResult {
  std::vector<Tensor> outputs;
  /// The structure that the outputs are put back into; of a type that the caller knows.
  std::shared_ptr<const void> structure;
};
using TraceBody = std::function<TraceResult(std::span<const Tensor> arguments)>;

/// One trace: what it was made for and what came out.
struct Concrete {
  std::vector<TensorSpec> specs;
  std::vector<int> aliases;  // for each handle the place of its first occurrence
  std::string host;
  std::shared_ptr<const TracedFunction> function;
  std::shared_ptr<const void> structure;
};

class FunctionCore {
 public:
  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();

  struct Call {
    std::vector<Tensor> outputs;
    std::shared_ptr<const Concrete> concrete;
  };
  Call call(const Arguments& arguments, const TraceBody& body);
  /// The trace for arguments of these kinds, made if there is none.
  std::shared_ptr<const Concrete> concrete_for(const Arguments& arguments, const TraceBody& body);
  static std::vector<Tensor> call_concrete(const Concrete& concrete, std::span<const Tensor> arguments);

  const FunctionOptions& options() const { return options_; }
  int trace_count() const;
  std::vector<std::string> retrace_reasons() const;

 private:
  struct State;
  std::shared_ptr<const Concrete> find(const Arguments& arguments) const;
  std::shared_ptr<const Concrete> trace(const Arguments& arguments, const TraceBody& body);

  const FunctionOptions options_;
  const std::unique_ptr<State> state_;
};

}  // namespace detail
}  // namespace capstan
