#include "capstan/tensor/tensor.h"

#include <cstring>
#include <limits>
#include <memory>

#include "base/memory.h"
#include "base/object_pool.h"
#include "capstan/base/error.h"
#include "tensor/storage.h"
#include "tensor/symbolic.h"
#include "tensor/type_switch.h"

namespace capstan {

std::atomic<void (*)(detail::TensorRep*)> on_recorded_tensor_death = nullptr;

namespace detail {
namespace {

std::atomic<std::uint64_t> next_identity{1};

TensorRep* new_rep(DType dtype, const Shape& shape, std::int64_t size) {
  auto* rep = new (ObjectPool<TensorRep>::take()) TensorRep;
  rep->dtype = dtype;
  rep->shape = shape;
  rep->size = size;
  return rep;
}

/// Strings, handles and variants are objects: they have to be built and taken apart.
void construct_elements(DType dtype, void* data, std::size_t count) {
  if (dtype == DType::string) std::uninitialized_value_construct_n(static_cast<std::string*>(data), count);
  if (dtype == DType::resource) std::uninitialized_value_construct_n(static_cast<ResourceHandle*>(data), count);
  if (dtype == DType::variant) std::uninitialized_value_construct_n(static_cast<Variant*>(data), count);
}

void destroy_elements(DType dtype, void* data, std::size_t count) noexcept {
  if (dtype == DType::string) std::destroy_n(static_cast<std::string*>(data), count);
  if (dtype == DType::resource) std::destroy_n(static_cast<ResourceHandle*>(data), count);
  if (dtype == DType::variant) std::destroy_n(static_cast<Variant*>(data), count);
}

void release_plain(Buffer* buffer) noexcept { memory::deallocate(buffer, buffer->bytes + memory::kAlignment); }

template <DType kType>
void release_objects(Buffer* buffer) noexcept {
  destroy_elements(kType, buffer->data, buffer->bytes / dtype_size(kType));
  release_plain(buffer);
}

// The buffer's own record stands in the 64 bytes before the elements: one allocation serves both.
static_assert(sizeof(Buffer) <= memory::kAlignment);

Buffer* new_buffer(DType dtype, std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2 - memory::kAlignment)
    throw ResourceExhausted("a tensor of " + std::to_string(bytes) + " bytes is too large");
  auto* block = static_cast<std::byte*>(memory::allocate(bytes + memory::kAlignment));
  auto* buffer = new (block) Buffer;
  buffer->data = block + memory::kAlignment;
  buffer->bytes = bytes;
  buffer->release = dtype == DType::string     ? release_objects<DType::string>
                    : dtype == DType::resource ? release_objects<DType::resource>
                    : dtype == DType::variant  ? release_objects<DType::variant>
                                               : release_plain;
  return buffer;
}

struct ForeignBuffer : Buffer {
  std::function<void(void*)> deleter;
};

void release_foreign(Buffer* buffer) noexcept {
  auto* foreign = static_cast<ForeignBuffer*>(buffer);
  if (foreign->deleter) foreign->deleter(foreign->data);
  delete foreign;
}

[[noreturn]] void throw_no_type(DType dtype) {
  throw TypeError("a tensor's element type must be one of DType's, got number " +
                  std::to_string(static_cast<int>(dtype)));
}

inline std::size_t bytes_of(DType dtype, const Shape& shape, std::int64_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), dtype_size(dtype), &bytes) ||
      bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) [[unlikely]]
    throw InvalidArgument("a tensor of type " + std::string(dtype_name(dtype)) + " and shape " + shape.to_string() +
                          " has more bytes than can be addressed");
  return bytes;
}

}  // namespace

void destroy(TensorRep* rep) noexcept {
  if (rep->producer.tape || rep->is_known_by_identity.load(std::memory_order_relaxed)) [[unlikely]]
    if (const auto tell = on_recorded_tensor_death.load(std::memory_order_acquire)) tell(rep);
  if (rep->buffer) {
    if (rep->buffer->refs.drop()) rep->buffer->release(rep->buffer);
  } else if (!is_plain(rep->dtype) && rep->data) {
    destroy_elements(rep->dtype, rep->data, static_cast<std::size_t>(rep->size));
  }
  rep->~TensorRep();
  ObjectPool<TensorRep>::give_back(rep);
}

Tensor make_tensor(const void* data, DType dtype, const Shape& shape) {
  Tensor tensor = new_tensor(dtype, shape);
  if (tensor.size()) std::memcpy(mutable_data(tensor), data, bytes_of(dtype, shape, tensor.size()));
  return tensor;
}

Tensor make_string_tensor(std::span<const std::string> values, const Shape& shape) {
  Tensor tensor = new_tensor(DType::string, shape);
  std::copy(values.begin(), values.end(), mutable_values<std::string>(tensor));
  return tensor;
}

void throw_ragged_literal(int level) {
  throw InvalidArgument("constant: all rows at level " + std::to_string(level) + " must have the same length");
}

void check_element_count(std::size_t count, const Shape& shape) {
  if (static_cast<std::int64_t>(count) != shape.num_elements())
    throw InvalidArgument("constant: shape " + shape.to_string() + " needs " + std::to_string(shape.num_elements()) +
                          " elements, got " + std::to_string(count));
}

}  // namespace detail

Tensor new_tensor(DType dtype, const Shape& shape) {
  if (dtype_size(dtype) == 0) [[unlikely]]
    detail::throw_no_type(dtype);
  const std::int64_t count = shape.num_elements();
  if (count < 0) throw InvalidArgument("a tensor needs a known shape, got " + shape.to_string());
  const std::size_t bytes = detail::bytes_of(dtype, shape, count);
  Tensor tensor = Tensor::adopt(detail::new_rep(dtype, shape, count));
  detail::TensorRep* rep = tensor.rep_or_null();
  if (bytes <= detail::TensorRep::kInlineBytes) {
    rep->data = rep->inline_data;
  } else {
    rep->buffer = detail::new_buffer(dtype, bytes);
    rep->data = rep->buffer->data;
  }
  if (!is_plain(dtype)) [[unlikely]]
    detail::construct_elements(dtype, rep->data, static_cast<std::size_t>(count));
  return tensor;
}

Tensor new_symbolic_tensor(DType dtype, const Shape& shape, SymbolicOrigin* origin) {
  Tensor tensor = Tensor::adopt(detail::new_rep(dtype, shape, shape.num_elements()));
  tensor.rep_or_null()->is_symbolic = true;
  tensor.rep_or_null()->buffer = origin;
  return tensor;
}

Tensor share_elements(const Tensor& source, const Shape& shape) {
  return share_elements(source, shape, source.dtype());
}

Tensor share_elements(const Tensor& source, const Shape& shape, DType dtype) {
  detail::TensorRep* from = source.rep_or_null();
  if (from->is_symbolic && !from->buffer) return new_symbolic_tensor(dtype, shape);
  if (!from->buffer) {  // a few bytes: copied
    Tensor copy = new_tensor(dtype, shape);
    if (dtype == DType::string)
      std::copy_n(static_cast<const std::string*>(from->data), from->size,
                  static_cast<std::string*>(mutable_data(copy)));
    else if (dtype == DType::resource)
      std::copy_n(static_cast<const ResourceHandle*>(from->data), from->size,
                  static_cast<ResourceHandle*>(mutable_data(copy)));
    else if (dtype == DType::variant)
      std::copy_n(static_cast<const Variant*>(from->data), from->size, static_cast<Variant*>(mutable_data(copy)));
    else
      std::memcpy(copy.rep_or_null()->inline_data, from->inline_data, detail::TensorRep::kInlineBytes);
    return copy;
  }
  Tensor view = Tensor::adopt(detail::new_rep(dtype, shape, shape.num_elements()));
  from->buffer->refs.add();
  view.rep_or_null()->buffer = from->buffer;
  view.rep_or_null()->data = from->data;
  view.rep_or_null()->is_symbolic = from->is_symbolic;
  return view;
}

bool is_sole_owner(const Tensor& tensor) {
  const detail::TensorRep* rep = tensor.rep_or_null();
  if (!rep || !rep->refs.is_one()) return false;
  return !rep->buffer || (rep->buffer->refs.is_one() && rep->buffer->release != detail::release_foreign);
}

Tensor make_resource_tensor(ResourceHandle handle) {
  Tensor tensor = new_tensor(DType::resource, Shape{});
  *static_cast<ResourceHandle*>(mutable_data(tensor)) = std::move(handle);
  return tensor;
}

namespace {

Resource* described_resource(const Tensor& handle) {
  static auto* const unknown = new ResourceDescription("unknown", DType::invalid, Shape::unknown(), false);
  const SymbolicOrigin* origin = origin_of(handle);
  Resource* known = origin ? origin->resource().get() : nullptr;
  return known ? known : unknown;
}

}  // namespace

Resource* resource_of(const Tensor& handle) {
  if (handle.dtype() != DType::resource)
    throw TypeError("a handle must have type resource, got " + std::string(dtype_name(handle.dtype())));
  if (handle.size() != 1 && !handle.is_symbolic())
    throw InvalidArgument("a handle must have exactly one element, got shape " + handle.shape().to_string());
  if (handle.is_symbolic()) return described_resource(handle);
  return static_cast<const ResourceHandle*>(handle.raw_data())->get();
}

std::uint64_t identity_of(const Tensor& tensor) {
  auto& identity = tensor.rep_or_null()->identity;
  std::uint64_t known = identity.load(std::memory_order_acquire);
  if (known) return known;
  const std::uint64_t fresh = detail::next_identity.fetch_add(1, std::memory_order_relaxed);
  return identity.compare_exchange_strong(known, fresh, std::memory_order_acq_rel) ? fresh : known;
}

std::int64_t live_tensor_count() { return ObjectPool<detail::TensorRep>::balance(); }

Tensor Tensor::from_memory(void* data, DType dtype, const Shape& shape, std::function<void(void*)> deleter) {
  if (!is_plain(dtype) || dtype_size(dtype) == 0)
    throw TypeError("Tensor::from_memory: the element type must be plain, got " + std::string(dtype_name(dtype)));
  const std::int64_t count = shape.num_elements();
  if (count < 0) throw InvalidArgument("Tensor::from_memory: the shape must be known, got " + shape.to_string());
  if (!data && count > 0)
    throw InvalidArgument("Tensor::from_memory: the address is null, but the shape " + shape.to_string() +
                          " has elements");
  const std::size_t alignment = is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype);
  if (reinterpret_cast<std::uintptr_t>(data) % alignment)
    throw InvalidArgument("Tensor::from_memory: the address must be a multiple of " + std::to_string(alignment));
  const std::size_t bytes = detail::bytes_of(dtype, shape, count);
  auto* buffer = new detail::ForeignBuffer;
  buffer->data = data;
  buffer->bytes = bytes;
  buffer->release = detail::release_foreign;
  buffer->deleter = std::move(deleter);
  Tensor tensor = adopt(detail::new_rep(dtype, shape, count));
  tensor.rep_->buffer = buffer;
  tensor.rep_->data = data;
  return tensor;
}

const void* Tensor::raw_data() const {
  if (rep().is_symbolic) [[unlikely]]
    throw_symbolic();
  return rep_->data;
}

void Tensor::throw_symbolic() const {
  const SymbolicOrigin* origin = origin_of(*this);
  throw OutOfScope("a symbolic tensor has no value" + (origin ? ": it is " + origin->description() : "") +
                   "; it stands for a value that is there only when the function runs: return it from the function, "
                   "or use cond and while_loop where its value decides");
}

Tensor::operator bool() const {
  check_one_element("a condition");
  if (dtype() == DType::string) return !values<std::string>()[0].empty();
  return visit_number(dtype(), [&]<class T>() { return *static_cast<const T*>(raw_data()) != T(0); });
}

void Tensor::throw_undefined() {
  throw FailedPrecondition("a Tensor handle that holds no tensor was used; assign a tensor to it first");
}

void Tensor::check_element_type(DType asked) const {
  if (dtype() != asked)
    throw TypeError("Tensor: asked for elements of type " + std::string(dtype_name(asked)) + ", but the tensor has " +
                    std::string(dtype_name(dtype())) + "; use cast to convert");
}

void Tensor::check_one_element(const char* what) const {
  if (size() != 1)
    throw InvalidArgument(std::string("Tensor: ") + what + " needs exactly one element, the shape is " +
                          shape().to_string() + "; use reduce_all or reduce_any first");
}

}  // namespace capstan
