// What a dataset is made of: sources, which describe, and streams, which read. An item is an element (its tensors) or,
// while a pipeline only chooses among the rows of tensors in memory, the number of a row.
#pragma once

#include <cstdint>
#include <memory>

#include "capstan/data/dataset.h"

namespace capstan::data::detail {

using Row = std::int64_t;

/// One reading of a source, which outlives it.
template <class Item>
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;
  /// False at the end, and again whenever it is asked after that.
  virtual bool next(Item& item) = 0;
  /// Begins again. A repetition belongs to its reading: what is random in it follows from where the reading began, and
  /// not from what other readings do meanwhile.
  virtual void restart() = 0;
};

/// Immutable; any thread may open it.
template <class Item>
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  virtual std::unique_ptr<Stream<Item>> open() const = 0;
  /// The number of items, or kInfinite.
  virtual std::int64_t cardinality() const = 0;
};

template <class Item>
using SourcePointer = std::shared_ptr<const Source<Item>>;
template <class Item>
using StreamPointer = std::unique_ptr<Stream<Item>>;

}  // namespace capstan::data::detail
