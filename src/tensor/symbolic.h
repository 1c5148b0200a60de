// Symbolic tensors: a type and a shape that may be partly known, but no value. While a function is traced they stand
// for the outputs of its nodes.
#pragma once

#include <string>

#include "capstan/tensor/tensor.h"
#include "tensor/handle.h"

namespace capstan {

/// What a symbolic tensor owns in place of elements: where it comes from.
class SymbolicOrigin : public detail::Buffer {
 public:
  explicit SymbolicOrigin(const void* maker);
  SymbolicOrigin(const SymbolicOrigin&) = delete;
  SymbolicOrigin& operator=(const SymbolicOrigin&) = delete;
  virtual ~SymbolicOrigin() = default;

  /// For messages: "the output 'add:0' of function 'step'".
  virtual std::string description() const = 0;
  /// The graph or batch that made the tensor; tells kinds of origins apart.
  const void* maker() const { return maker_; }
  /// What is known of the resource behind a symbolic handle.
  const ResourceHandle& resource() const { return resource_; }
  void set_resource(ResourceHandle resource) { resource_ = std::move(resource); }

 private:
  const void* const maker_;
  ResourceHandle resource_;
};

/// A resource of which only type and shape are known: it stands behind symbolic handles.
class ResourceDescription final : public Resource {
 public:
  ResourceDescription(std::string name, DType dtype, Shape shape, bool is_trainable);
  /// The same of another resource.
  static ResourceHandle of(const Resource& resource);

  std::string name() const override { return name_; }
  DType value_dtype() const override { return dtype_; }
  Shape value_shape() const override { return shape_; }
  bool is_trainable() const override { return is_trainable_; }

 private:
  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  const bool is_trainable_;
};

/// The tensor takes over the reference that a new origin is born with.
Tensor new_symbolic_tensor(DType dtype, const Shape& shape, SymbolicOrigin* origin = nullptr);
/// Null for tensors that have values, and for symbolic ones of unknown origin.
SymbolicOrigin* origin_of(const Tensor& tensor);

}  // namespace capstan
