#include "ops/variable_resource.h"

#include <atomic>
#include <cstring>

#include "capstan/base/error.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

std::atomic<std::uint64_t> next_sequence{0};

Tensor copy_of(const Tensor& source) {
  Tensor copy = new_tensor(source.dtype(), source.shape());
  if (source.dtype() == DType::string)
    std::copy_n(static_cast<const std::string*>(source.raw_data()), source.size(), mutable_values<std::string>(copy));
  else if (is_plain(source.dtype()))
    std::memcpy(mutable_data(copy), source.raw_data(),
                static_cast<std::size_t>(source.size()) * dtype_size(source.dtype()));
  else
    return share_elements(source, source.shape());  // handles and variants are never written in place
  return copy;
}

}  // namespace

VariableResource::VariableResource(std::string name, std::string container, DType dtype, Shape shape)
    : name_(std::move(name)),
      container_(std::move(container)),
      dtype_(dtype),
      shape_(std::move(shape)),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {}

void VariableResource::fail_uninitialized(std::string_view op) const {
  throw FailedPrecondition(std::string(op) + ": variable '" + name_ + "' in container '" + container_ +
                           "' is uninitialized: it was never assigned, or has been deleted; assign a value first");
}

const Tensor& VariableResource::value(std::string_view op) const {
  if (!value_.is_defined()) fail_uninitialized(op);
  return value_;
}

Tensor VariableResource::read(std::string_view op) const {
  const Tensor& current = value(op);
  return copies_on_read_ ? copy_of(current) : share_elements(current, current.shape());
}

void VariableResource::assign(const Tensor& value) {
  value_ = copies_on_read_ ? copy_of(value) : share_elements(value, value.shape());
}

void VariableResource::unshare() {
  if (!is_sole_owner(value_)) value_ = copy_of(value_);
}

Tensor& VariableResource::writable(std::string_view op) {
  if (!value_.is_defined()) fail_uninitialized(op);
  unshare();
  return value_;
}

Tensor& VariableResource::writable_sparse(std::string_view op) {
  if (!value_.is_defined()) fail_uninitialized(op);
  if (!copies_on_read_) unshare();
  copies_on_read_ = true;
  return value_;
}

VariableResource& variable_of(const Tensor& handle, std::string_view op) {
  if (handle.size() != 1)
    throw InvalidArgument(std::string(op) + ": a handle must have exactly one element, got shape " +
                          handle.shape().to_string());
  auto* variable = dynamic_cast<VariableResource*>(resource_of(handle));
  if (!variable) throw TypeError(std::string(op) + ": the handle is not that of a variable");
  return *variable;
}

}  // namespace capstan
