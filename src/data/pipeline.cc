#include <string>
#include <utility>

#include "capstan/base/error.h"
#include "capstan/data/dataset.h"
#include "capstan/ops/random_ops.h"
#include "data/batch.h"
#include "data/columns.h"
#include "data/prefetch.h"
#include "data/selection.h"
#include "data/shuffle.h"
#include "data/stream.h"
#include "op/observer.h"

namespace capstan::data::detail {

/// A pipeline stays a source of row numbers as long as its stages only choose and order; `columns` holds what the
/// numbers stand for. After that it is a source of elements.
struct PipelineNode {
  std::shared_ptr<const Columns> columns;
  SourcePointer<Row> rows;
  SourcePointer<Components> elements;
};

namespace {

class Count final : public Source<Row> {
 public:
  explicit Count(std::int64_t count) : count_(count) {}
  StreamPointer<Row> open() const override { return std::make_unique<Reading>(count_); }
  std::int64_t cardinality() const override { return count_; }

 private:
  class Reading final : public Stream<Row> {
   public:
    explicit Reading(std::int64_t count) : count_(count) {}
    bool next(Row& row) override {
      if (next_ == count_) return false;
      row = next_++;
      return true;
    }
    void restart() override { next_ = 0; }

   private:
    std::int64_t count_, next_ = 0;
  };

  std::int64_t count_;
};

class Single final : public Source<Components> {
 public:
  explicit Single(Components element) : element_(std::move(element)) {}
  StreamPointer<Components> open() const override { return std::make_unique<Reading>(element_); }
  std::int64_t cardinality() const override { return 1; }

 private:
  class Reading final : public Stream<Components> {
   public:
    explicit Reading(const Components& element) : element_(element) {}
    bool next(Components& element) override {
      if (std::exchange(is_used_, true)) return false;
      element = element_;
      return true;
    }
    void restart() override { is_used_ = false; }

   private:
    const Components& element_;
    bool is_used_ = false;
  };

  Components element_;
};

/// Elements made from items, one from one.
template <class Item, class Convert>
class Converted final : public Source<Components> {
 public:
  Converted(SourcePointer<Item> input, Convert convert) : input_(std::move(input)), convert_(std::move(convert)) {}
  StreamPointer<Components> open() const override { return std::make_unique<Reading>(*this); }
  std::int64_t cardinality() const override { return input_->cardinality(); }

 private:
  class Reading final : public Stream<Components> {
   public:
    explicit Reading(const Converted& source) : source_(source), input_(source.input_->open()) {}
    bool next(Components& element) override {
      Item item{};
      if (!input_->next(item)) return false;
      element = source_.convert_(std::move(item));
      return true;
    }
    void restart() override { input_->restart(); }

   private:
    const Converted& source_;
    StreamPointer<Item> input_;
  };

  SourcePointer<Item> input_;
  Convert convert_;
};

template <class Item, class Convert>
SourcePointer<Components> converted(SourcePointer<Item> input, Convert convert) {
  return std::make_shared<Converted<Item, Convert>>(std::move(input), std::move(convert));
}

SourcePointer<Components> elements_of(const PipelineNode& node) {
  if (node.elements) return node.elements;
  return converted(node.rows, [columns = node.columns](Row row) { return columns->row(row); });
}

Pipeline pipeline_of_elements(SourcePointer<Components> elements) {
  return Pipeline(
      std::make_shared<PipelineNode>(PipelineNode{.columns = {}, .rows = {}, .elements = std::move(elements)}));
}

/// The node with one more stage that looks at no item.
template <template <class> class Stage, class... Arguments>
Pipeline selected(const PipelineNode& node, const Arguments&... arguments) {
  if (node.elements) return pipeline_of_elements(std::make_shared<Stage<Components>>(node.elements, arguments...));
  auto rows = std::make_shared<Stage<Row>>(node.rows, arguments...);
  return Pipeline(std::make_shared<PipelineNode>(PipelineNode{node.columns, std::move(rows), {}}));
}

void check_at_least(std::int64_t least, std::int64_t number, const char* stage, const char* what) {
  if (number < least)
    throw InvalidArgument(std::string(stage) + ": the " + what + " must be at least " + std::to_string(least) +
                          ", got " + std::to_string(number));
}

std::uint64_t draw_seed() {
  const PauseObservers no_tape;
  const Tensor numbers = random_uniform(Shape{4});
  std::uint64_t seed = 0;
  for (const float number : numbers.values<float>()) seed = seed << 16 | static_cast<std::uint64_t>(number * 65536.f);
  return seed;
}

}  // namespace

class CursorState {
 public:
  explicit CursorState(std::shared_ptr<const PipelineNode> node)
      : node_(std::move(node)), elements_(elements_of(*node_)), stream_(elements_->open()) {}
  bool next(Components& element) { return stream_->next(element); }

 private:
  std::shared_ptr<const PipelineNode> node_;
  SourcePointer<Components> elements_;
  StreamPointer<Components> stream_;
};

Cursor::Cursor(std::shared_ptr<const PipelineNode> node) : state_(std::make_unique<CursorState>(std::move(node))) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

bool Cursor::next(Components& element) {
  if (!state_) throw FailedPrecondition("a dataset's iterator was used after it was moved from");
  return state_->next(element);
}

Pipeline pipeline_of(std::vector<Column> columns) {
  auto rows = std::make_shared<const Columns>(std::move(columns));
  auto count = std::make_shared<Count>(rows->rows());
  return Pipeline(std::make_shared<PipelineNode>(PipelineNode{std::move(rows), std::move(count), {}}));
}

Pipeline Pipeline::slices(Components tensors) {
  return pipeline_of(std::vector<Column>(tensors.begin(), tensors.end()));
}

Pipeline Pipeline::single(Components tensors) {
  for (const Tensor& tensor : tensors)
    if (!tensor.is_defined()) throw InvalidArgument("from_tensors: a tensor is not defined");
  return pipeline_of_elements(std::make_shared<Single>(std::move(tensors)));
}

Pipeline Pipeline::shuffle(std::int64_t buffer_size, const ShuffleOptions& options) const {
  check_at_least(1, buffer_size, "shuffle", "buffer size");
  const std::uint64_t seed = options.seed ? *options.seed : draw_seed();
  return selected<Shuffle>(*node_, buffer_size, seed, options.reshuffle_each_iteration);
}

Pipeline Pipeline::batch(std::int64_t size, const BatchOptions& options) const {
  check_at_least(1, size, "batch", "batch size");
  const BatchSize batch{size, options.drop_remainder};
  return pipeline_of_elements(node_->elements ? batch_elements(node_->elements, batch)
                                              : batch_rows(node_->columns, node_->rows, batch));
}

Pipeline Pipeline::repeat(std::int64_t count) const {
  if (count != kForever) check_at_least(0, count, "repeat", "count");
  return selected<Repeat>(*node_, count);
}

Pipeline Pipeline::take(std::int64_t count) const {
  check_at_least(0, count, "take", "count");
  return selected<Take>(*node_, count);
}

Pipeline Pipeline::skip(std::int64_t count) const {
  check_at_least(0, count, "skip", "count");
  return selected<Skip>(*node_, count);
}

Pipeline Pipeline::prefetch(std::int64_t count) const {
  check_at_least(1, count, "prefetch", "count");
  return pipeline_of_elements(prefetched(elements_of(*node_), count));
}

Pipeline Pipeline::map(std::function<Components(Components)> function) const {
  return pipeline_of_elements(converted(elements_of(*node_), [function = std::move(function)](Components element) {
    const PauseObservers no_tape;  // with a prefetch the function runs on a thread without tapes: be alike
    return function(std::move(element));
  }));
}

std::int64_t Pipeline::cardinality() const {
  return node_->elements ? node_->elements->cardinality() : node_->rows->cardinality();
}

}  // namespace capstan::data::detail
