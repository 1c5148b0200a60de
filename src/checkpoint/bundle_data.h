// Reading one tensor's bytes out of a data file, with its checksums.
#pragma once

#include <string>

#include "base/file.h"
#include "capstan/tensor/tensor.h"
#include "checkpoint/bundle.h"

namespace capstan::checkpoint {

/// Reads the tensor that `entry` describes; the caller has compared the entry's numbers with the file's length. `swap`
/// says that the writer's byte order was the other one. Damage throws DataLoss.
Tensor read_elements(const BundleEntry& entry, const ReadableFile& file, bool swap);
Tensor read_strings(const BundleEntry& entry, const ReadableFile& file, bool swap);

}  // namespace capstan::checkpoint
