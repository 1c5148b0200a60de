#include <algorithm>

#include "capstan/base/error.h"
#include "ops/tensor_list.h"
#include "tensor/storage.h"

namespace capstan {

TensorList::TensorList(DType dtype, Shape element_shape, std::vector<Tensor> elements)
    : dtype_(dtype),
      element_shape_(std::move(element_shape)),
      shared_(std::make_shared<Shared>()),
      size_(elements.size()) {
  shared_->tensors = std::move(elements);
}

TensorList::TensorList(const TensorList& like, std::shared_ptr<Shared> shared, std::size_t size)
    : dtype_(like.dtype_), element_shape_(like.element_shape_), shared_(std::move(shared)), size_(size) {}

namespace {

// Lists in lists in lists: taken apart one after the other, not one inside the other.
constinit thread_local std::vector<Tensor>* doomed = nullptr;

}  // namespace

TensorList::Shared::~Shared() {
  if (doomed) {
    std::ranges::move(tensors, std::back_inserter(*doomed));
    return;
  }
  std::vector<Tensor> waiting = std::move(tensors);
  doomed = &waiting;
  while (!waiting.empty()) {
    const Tensor next = std::move(waiting.back());
    waiting.pop_back();
  }
  doomed = nullptr;
}

Tensor TensorList::at(std::size_t i) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->tensors[i];
}

std::vector<Tensor> TensorList::elements() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->tensors.begin(), shared_->tensors.begin() + static_cast<std::ptrdiff_t>(size_)};
}

std::shared_ptr<const TensorList> TensorList::with_pushed(const Tensor& value) const {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->tensors.size() == size_) {
      shared_->tensors.push_back(value);
      return std::shared_ptr<const TensorList>(new TensorList(*this, shared_, size_ + 1));
    }
  }
  auto all = elements();
  all.push_back(value);
  return with(std::move(all));
}

std::shared_ptr<const TensorList> TensorList::without_last() const {
  return std::shared_ptr<const TensorList>(new TensorList(*this, shared_, size_ - 1));
}

std::shared_ptr<const TensorList> TensorList::with(std::vector<Tensor> elements) const {
  return std::make_shared<const TensorList>(dtype_, element_shape_, std::move(elements));
}

std::shared_ptr<const TensorList> list_in(const Tensor& handle, std::string_view op) {
  if (handle.dtype() == DType::variant && handle.size() == 1)
    if (auto list = std::dynamic_pointer_cast<const TensorList>(*static_cast<const Variant*>(handle.raw_data())))
      return list;
  throw InvalidArgument(std::string(op) + ": the handle must be a scalar that holds a tensor list, got " +
                        std::string(dtype_name(handle.dtype())) + " of shape " + handle.shape().to_string());
}

Tensor list_tensor(std::shared_ptr<const TensorList> list) {
  Tensor tensor = new_tensor(DType::variant, Shape{});
  *static_cast<Variant*>(mutable_data(tensor)) = std::move(list);
  return tensor;
}

}  // namespace capstan
