// Kernels of graph nodes that are fed or do nothing.
#include "ops/placeholder.h"

#include "capstan/base/error.h"
#include "cpu/elementwise.h"
#include "cpu/tables.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

void placeholder_kernel(KernelContext& context) {
  throw InvalidArgument("Placeholder: must be fed a value of type " +
                        std::string(dtype_name(context.output_spec(0).dtype)) + " and shape " +
                        context.output_spec(0).shape.to_string());
}

void with_default_kernel(KernelContext& context) {
  context.set_output(0, share_elements(context.input(0), context.input(0).shape()));
}

void no_kernel(KernelContext&) {}

}  // namespace

KernelTable placeholder_kernels() {
  static const KernelRow rows[] = {
      {&placeholder_op, any_type(placeholder_kernel)},
      {&placeholder_with_default_op, any_type(with_default_kernel)},
      {&no_op_op, any_type(no_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
