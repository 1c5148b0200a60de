// Arithmetic of IndexedSlices, for the tape and the optimizers.
#pragma once

#include <span>

#include "capstan/op/gradient.h"

namespace capstan {

/// The sum of several slices of one dense shape, as slices: their rows one behind the other. Indices of mixed types
/// become int64.
IndexedSlices concat_slices(std::span<const IndexedSlices> slices);

}  // namespace capstan
