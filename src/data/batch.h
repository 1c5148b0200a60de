// The batch stage, over rows of tensors in memory (one copy per row, no tensor in between) and over elements.
#pragma once

#include "data/columns.h"
#include "data/stream.h"

namespace capstan::data::detail {

struct BatchSize {
  std::int64_t size;
  bool drop_remainder;

  std::int64_t batches_of(std::int64_t items) const {
    if (items == kInfinite) return kInfinite;
    return items / size + (!drop_remainder && items % size != 0);
  }
};

SourcePointer<Components> batch_rows(std::shared_ptr<const Columns> columns, SourcePointer<Row> rows, BatchSize batch);
SourcePointer<Components> batch_elements(SourcePointer<Components> elements, BatchSize batch);

}  // namespace capstan::data::detail
