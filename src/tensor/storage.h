// Making tensors and taking their memory over: what kernels need and users do not see.
#pragma once

#include <span>

#include "capstan/tensor/tensor.h"
#include "tensor/handle.h"

namespace capstan {

/// A new tensor with uninitialized elements (strings, handles and variants are empty ones). `shape` is fully known.
/// Throws InvalidArgument if its bytes cannot be counted, ResourceExhausted if there is no memory.
Tensor new_tensor(DType dtype, const Shape& shape);

/// A new tensor object, with an identity of its own, over the same elements in another shape of the same size.
Tensor share_elements(const Tensor& source, const Shape& shape);
/// The same with another element type of the same size (a bitcast).
Tensor share_elements(const Tensor& source, const Shape& shape, DType dtype);

/// The writable elements of a tensor that nobody else has seen yet.
inline void* mutable_data(Tensor& tensor) { return tensor.rep_or_null()->data; }
template <Element T>
T* mutable_values(Tensor& tensor) {
  return static_cast<T*>(mutable_data(tensor));
}

/// Is the handle the only one, to elements that no other tensor shares? Then a kernel may write over them.
bool is_sole_owner(const Tensor& tensor);

/// A scalar tensor that holds a resource, and the resource in it (null if the handle is empty; a description if it is
/// symbolic). Throws InvalidArgument for a tensor of no or several handles, TypeError for one of another type.
Tensor make_resource_tensor(ResourceHandle handle);
Resource* resource_of(const Tensor& handle);

/// The tensor's identity: a number that no other tensor has or will have.
std::uint64_t identity_of(const Tensor& tensor);

/// Called when a tensor object dies that a tape has recorded. Set once, by the tape.
extern std::atomic<void (*)(detail::TensorRep*)> on_recorded_tensor_death;

/// Tensor objects made minus tensor objects destroyed on this thread: tests of lifetimes compare it before and after.
std::int64_t live_tensor_count();

}  // namespace capstan
