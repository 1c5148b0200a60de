#include "tensor/symbolic.h"

#include <utility>

namespace capstan {

SymbolicOrigin::SymbolicOrigin(const void* maker) : maker_(maker) {
  release = [](detail::Buffer* buffer) noexcept { delete static_cast<SymbolicOrigin*>(buffer); };
}

ResourceDescription::ResourceDescription(std::string name, DType dtype, Shape shape, bool is_trainable)
    : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), is_trainable_(is_trainable) {}

ResourceHandle ResourceDescription::of(const Resource& resource) {
  return ResourceHandle(new ResourceDescription(resource.name(), resource.value_dtype(), resource.value_shape(),
                                                resource.is_trainable()));
}

SymbolicOrigin* origin_of(const Tensor& tensor) {
  const detail::TensorRep* rep = tensor.rep_or_null();
  return rep && rep->is_symbolic ? static_cast<SymbolicOrigin*>(rep->buffer) : nullptr;
}

}  // namespace capstan
