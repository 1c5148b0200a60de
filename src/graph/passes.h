// Passes: from one graph to a smaller one that does the same. They work on copies, ask the ops' records and know no op
// by name. Every node that a pass makes keeps the names of those it came from.
#pragma once

#include "graph/graph_function.h"

namespace capstan {

/// Without the nodes that neither an output nor a target nor an effect needs.
GraphFunction::Parts prune(const GraphFunction::Parts& parts);
/// With constants in place of what is the same in every run. Large arrays stay unfolded.
GraphFunction::Parts fold_constants(const GraphFunction::Parts& parts);
/// With one node in place of several that compute the same from the same inputs.
GraphFunction::Parts merge_common_subexpressions(const GraphFunction::Parts& parts);

/// All of them in one step.
GraphFunction::Parts simplified(const GraphFunction::Parts& parts);

}  // namespace capstan
