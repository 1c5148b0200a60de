// The forward forms of branches and loops.
#pragma once

#include "function/forward_form.h"

namespace capstan {

bool is_branch(const OpDef& op);
ForwardForm branch_form(const OpDef& op, const void* attributes, DerivativeNeed need);

bool is_loop(const OpDef& op);
ForwardForm loop_form(const OpDef& op, const void* attributes, DerivativeNeed need);

/// The function behind an attribute; throws Unimplemented if it was not traced or imported, so that there is no graph
/// to differentiate.
const TracedFunction& traced(const FunctionAttribute& attribute);

}  // namespace capstan
