// What registration adds to an op's record, and the registry that holds them all.
#pragma once

#include <atomic>
#include <span>

#include "capstan/op/op.h"
#include "op/signature.h"

namespace capstan {

namespace detail {

struct OpRuntime {
  Signature signature;
  const AttributeSchema* schema = nullptr;
  const void* default_attributes = nullptr;
  KernelSet kernels;
  bool is_simple = false;  // one type variable, no lists, one output of that type: the short way through `apply`
  int index = 0;           // place in the registry, dense from 0
};

}  // namespace detail

/// A row of the kernel table: which kernels run an op on the CPU.
struct KernelRow {
  const OpDef* op;
  KernelSet kernels;
};

// The registry stands below the folders that define ops and kernels, so it is told of them by name only: these are
// defined in ops/all.cc, cpu/all.cc and function/flow_ops.cc.
std::span<const OpDef* const> builtin_ops();
std::span<const KernelRow> builtin_kernels();
/// Ops whose attributes are functions, with their kernels in their records; defined in function/flow_ops.cc.
std::span<const OpDef* const> function_ops();

/// The op's runtime part; registers all built-in ops at the first call.
const detail::OpRuntime& register_builtin(const OpDef& op);
inline const detail::OpRuntime& runtime_of(const OpDef& op) {
  const detail::OpRuntime* known = std::atomic_ref(op.runtime).load(std::memory_order_acquire);
  if (known) [[likely]]
    return *known;
  return register_builtin(op);
}

/// The number of outputs that a call with these inputs and attributes has.
std::size_t output_count(const OpDef& op, std::size_t input_count, const void* attributes);

/// The kernel for inputs of these types. Throws TypeError if they do not fit the signature, Unimplemented if there is
/// none.
Kernel kernel_for(const OpDef& op, std::span<const InputRef> inputs, const void* attributes);

/// Step 1 of `apply` alone: types and shapes of the outputs, of which there are `output_count`. Returns the type that
/// chooses the kernel.
DType infer_call(const OpDef& op, std::span<const InputRef> inputs, const void* attributes,
                 std::span<TensorSpec> outputs);

/// The same for attributes by name.
std::vector<TensorSpec> infer_outputs(const OpDef& op, std::span<const Tensor> inputs, const AttributeMap& attributes);
bool has_any_kernel(const OpDef& op);

}  // namespace capstan
