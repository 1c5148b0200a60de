#include "data/batch.h"

#include <string>
#include <utility>
#include <vector>

#include "capstan/base/error.h"
#include "tensor/storage.h"

namespace capstan::data::detail {
namespace {

std::string described(const Tensor& tensor) {
  return std::string(dtype_name(tensor.dtype())) + " " + tensor.shape().to_string();
}

Tensor stack_component(const std::vector<Components>& elements, std::size_t component) {
  const Tensor& first = elements[0][component];
  Shape shape = first.shape();
  shape.insert(0, static_cast<std::int64_t>(elements.size()));
  Tensor batch = new_tensor(first.dtype(), shape);
  auto* to = static_cast<std::byte*>(mutable_data(batch));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Tensor& part = elements[i][component];
    if (part.dtype() != first.dtype() || part.shape() != first.shape())
      throw InvalidArgument("batch: the elements of a batch must agree in type and shape, got " + described(first) +
                            " in element 0 and " + described(part) + " in element " + std::to_string(i) +
                            " (component " + std::to_string(component) + "); pad or resize them in a map before it");
    copy_elements(part.dtype(), part.raw_data(), to, part.size());
    to += static_cast<std::size_t>(part.size()) * dtype_size(part.dtype());
  }
  return batch;
}

Components stack(const std::vector<Components>& elements) {
  Components batch;
  for (std::size_t i = 0; i < elements[0].size(); ++i) batch.push_back(stack_component(elements, i));
  return batch;
}

template <class Item, class Join>
class Batches final : public Source<Components> {
 public:
  Batches(SourcePointer<Item> input, BatchSize batch, Join join)
      : input_(std::move(input)), batch_(batch), join_(std::move(join)) {}
  StreamPointer<Components> open() const override { return std::make_unique<Reading>(*this); }
  std::int64_t cardinality() const override { return batch_.batches_of(input_->cardinality()); }

 private:
  class Reading final : public Stream<Components> {
   public:
    explicit Reading(const Batches& source) : source_(source), input_(source.input_->open()) {}
    bool next(Components& batch) override {
      const auto size = static_cast<std::size_t>(source_.batch_.size);
      items_.clear();
      for (Item item{}; items_.size() < size && input_->next(item);) items_.push_back(std::move(item));
      const bool is_whole = items_.size() == size;
      if (items_.empty() || (source_.batch_.drop_remainder && !is_whole)) return false;
      batch = source_.join_(items_);
      return true;
    }
    void restart() override { input_->restart(); }

   private:
    const Batches& source_;
    StreamPointer<Item> input_;
    std::vector<Item> items_;
  };

  SourcePointer<Item> input_;
  BatchSize batch_;
  Join join_;
};

template <class Item, class Join>
SourcePointer<Components> batches(SourcePointer<Item> input, BatchSize batch, Join join) {
  return std::make_shared<Batches<Item, Join>>(std::move(input), batch, std::move(join));
}

}  // namespace

SourcePointer<Components> batch_rows(std::shared_ptr<const Columns> columns, SourcePointer<Row> rows, BatchSize batch) {
  return batches(std::move(rows), batch,
                 [columns = std::move(columns)](const std::vector<Row>& chosen) { return columns->gather(chosen); });
}

SourcePointer<Components> batch_elements(SourcePointer<Components> elements, BatchSize batch) {
  return batches(std::move(elements), batch, stack);
}

}  // namespace capstan::data::detail
