#include "graph/run_node.h"

#include "capstan/base/error.h"
#include "op/runtime.h"

namespace capstan {

std::vector<Tensor> run_node(const Node& node, std::span<const Tensor> inputs) {
  const std::vector<InputRef> refs(inputs.begin(), inputs.end());
  const void* attributes = node.attributes.get();
  std::vector<Tensor> outputs(output_count(*node.op, refs.size(), attributes));
  std::vector<TensorSpec> specs(outputs.size());
  const DType key = infer_call(*node.op, refs, attributes, specs);
  const Kernel kernel = runtime_of(*node.op).kernels[key];
  if (!kernel) throw Unimplemented(node.type + ": there is no CPU kernel for " + std::string(dtype_name(key)));
  KernelContext context(*node.op, attributes, refs, specs, outputs);
  kernel(context);
  return outputs;
}

}  // namespace capstan
