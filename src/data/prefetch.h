// The prefetch stage: elements are made ahead of their reader by a worker of the pool.
#pragma once

#include "data/stream.h"

namespace capstan::data::detail {

SourcePointer<Components> prefetched(SourcePointer<Components> input, std::int64_t count);

}  // namespace capstan::data::detail
