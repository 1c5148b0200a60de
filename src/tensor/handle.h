// What tensors of the types `resource` and `variant` hold: handles to objects that count their references.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "capstan/tensor/detail/tensor_rep.h"
#include "capstan/tensor/dtype.h"
#include "capstan/tensor/shape.h"

namespace capstan {

/// Something with a state of its own: a variable, later tables, iterators and the like.
class Resource {
 public:
  virtual ~Resource() = default;
  /// The name to use in messages.
  virtual std::string name() const = 0;
  /// What a handle says of the value behind it.
  virtual DType value_dtype() const { return DType::invalid; }
  virtual Shape value_shape() const { return Shape::unknown(); }
  /// Do tapes follow it when it is read?
  virtual bool is_trainable() const { return false; }

  detail::RefCount refs;
};

/// A counted reference to a resource.
class ResourceHandle {
 public:
  ResourceHandle() = default;
  /// Takes over the reference that a new object is born with.
  explicit ResourceHandle(Resource* resource) : resource_(resource) {}
  ResourceHandle(const ResourceHandle& other) : resource_(other.resource_) {
    if (resource_) resource_->refs.add();
  }
  ResourceHandle(ResourceHandle&& other) noexcept : resource_(std::exchange(other.resource_, nullptr)) {}
  ResourceHandle& operator=(ResourceHandle other) noexcept {
    std::swap(resource_, other.resource_);
    return *this;
  }
  ~ResourceHandle() {
    if (resource_ && resource_->refs.drop()) delete resource_;
  }
  Resource* get() const { return resource_; }

 private:
  Resource* resource_ = nullptr;
};

/// A value that is no array: a list of tensors, an optional. Immutable and shared.
class VariantValue {
 public:
  virtual ~VariantValue() = default;
  virtual std::string type_name() const = 0;
};
using Variant = std::shared_ptr<const VariantValue>;

}  // namespace capstan
