#include "capstan/base/error.h"
#include "function/flow_forms.h"
#include "function/flow_ops.h"

namespace capstan {

bool is_loop(const OpDef& op) { return &op == &while_op || &op == &stateless_while_op; }

ForwardForm loop_form(const OpDef& op, const void*, DerivativeNeed) {
  throw Unimplemented(std::string(op.name()) + ": gradient");
}

}  // namespace capstan
