// Kernels of tensor lists.
#include "ops/tensor_list.h"

#include <algorithm>
#include <cstring>

#include "capstan/base/error.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

// A list is made of handles; nobody needs more of them than a machine has memory for.
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

std::shared_ptr<const TensorList> list(const KernelContext& context) {
  return list_in(context.input(0), context.op().name());
}

Shape element_shape(const KernelContext& context, std::size_t i) {
  const Tensor& given = context.input(i);
  if (given.rank() == 0) return Shape::unknown();
  Shape shape;
  for (const std::int64_t size : integers_of(given)) shape.push_back(size < 0 ? Shape::kUnknown : size);
  return shape;
}

void check_dtype(const KernelContext& context, const TensorList& of, DType dtype) {
  if (of.dtype() != dtype)
    throw TypeError(std::string(context.op().name()) + ": the list holds " + std::string(dtype_name(of.dtype())) +
                    ", asked for or given " + std::string(dtype_name(dtype)));
}

void check_element(const KernelContext& context, const TensorList& of, const Tensor& element) {
  check_dtype(context, of, element.dtype());
  if (!of.element_shape().is_compatible_with(element.shape()))
    context.fail("the list holds tensors of shape " + of.element_shape().to_string() + ", got " +
                 element.shape().to_string());
}

/// A handle of its own: the kernel's input belongs to others.
Tensor kept(const Tensor& element) { return share_elements(element, element.shape()); }

std::size_t index(const KernelContext& context, std::size_t count) {
  const std::int64_t at = integers_of(context.input(1))[0];
  if (at < 0 || at >= static_cast<std::int64_t>(count))
    context.fail("index " + std::to_string(at) + " is not in a list of " + std::to_string(count) + " tensors");
  return static_cast<std::size_t>(at);
}

void empty_kernel(KernelContext& context) {
  context.set_output(0, list_tensor(std::make_shared<const TensorList>(
                            context.attributes<ListAttributes>().element_dtype, element_shape(context, 0))));
}

void reserve_kernel(KernelContext& context) {
  const std::int64_t count = integers_of(context.input(1))[0];
  if (count < 0) context.fail("'num_elements' must not be negative, got " + std::to_string(count));
  if (count > kMostElements)
    throw ResourceExhausted("TensorListReserve: a list of " + std::to_string(count) + " tensors does not fit");
  context.set_output(0, list_tensor(std::make_shared<const TensorList>(
                            context.attributes<ListAttributes>().element_dtype, element_shape(context, 0),
                            std::vector<Tensor>(static_cast<std::size_t>(count)))));
}

void push_kernel(KernelContext& context) {
  const auto to = list(context);
  check_element(context, *to, context.input(1));
  context.set_output(0, list_tensor(to->with_pushed(kept(context.input(1)))));
}

/// Zeros for an element that was never set, if its shape is known.
Tensor element_or_zeros(const KernelContext& context, const TensorList& of, Tensor element, const Shape& asked) {
  if (element.is_defined()) {
    if (!asked.is_compatible_with(element.shape()))
      context.fail("the element has shape " + element.shape().to_string() + ", asked for " + asked.to_string());
    return kept(element);
  }
  const Shape& shape = asked.is_fully_known() ? asked : of.element_shape();
  if (!shape.is_fully_known())
    context.fail("the element was never set, and its shape is known only as " + shape.to_string());
  Tensor zeros = new_tensor(of.dtype(), shape);
  if (is_plain(of.dtype()))
    std::memset(mutable_data(zeros), 0, static_cast<std::size_t>(zeros.size()) * dtype_size(of.dtype()));
  return zeros;
}

void pop_kernel(KernelContext& context) {
  const auto from = list(context);
  check_dtype(context, *from, context.attributes<ListAttributes>().element_dtype);
  if (from->size() == 0) context.fail("the list is empty");
  context.set_output(0, list_tensor(from->without_last()));
  context.set_output(1, element_or_zeros(context, *from, from->at(from->size() - 1), element_shape(context, 1)));
}

void length_kernel(KernelContext& context) {
  const auto of = list(context);
  *context.make_output<std::int32_t>(0) = static_cast<std::int32_t>(of->size());
}

void element_shape_kernel(KernelContext& context) {
  const Shape& shape = list(context)->element_shape();
  const Shape of_output = shape.has_rank() ? Shape{shape.rank()} : Shape{};
  void* to = context.make_output(0, of_output);
  const auto put = [&](int i, std::int64_t size) {
    if (context.output_spec(0).dtype == DType::int64)
      static_cast<std::int64_t*>(to)[i] = size;
    else
      static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(size);
  };
  if (!shape.has_rank()) put(0, -1);
  for (int i = 0; i < shape.rank(); ++i) put(i, shape[i]);
}

void get_item_kernel(KernelContext& context) {
  const auto from = list(context);
  check_dtype(context, *from, context.attributes<ListAttributes>().element_dtype);
  const std::size_t at = index(context, from->size());
  context.set_output(0, element_or_zeros(context, *from, from->at(at), element_shape(context, 2)));
}

void set_item_kernel(KernelContext& context) {
  const auto to = list(context);
  check_element(context, *to, context.input(2));
  auto elements = to->elements();
  const std::int64_t at = integers_of(context.input(1))[0];
  if (context.attributes<ListSetAttributes>().resize_if_index_out_of_bounds && at >= 0 && at < kMostElements &&
      at >= static_cast<std::int64_t>(elements.size()))
    elements.resize(static_cast<std::size_t>(at) + 1);
  elements[index(context, elements.size())] = kept(context.input(2));
  context.set_output(0, list_tensor(to->with(std::move(elements))));
}

void stack_kernel(KernelContext& context) {
  const auto from = list(context);
  const DType dtype = context.output_spec(0).dtype;
  check_dtype(context, *from, dtype);
  const std::int64_t wanted = context.attributes<ListStackAttributes>().num_elements;
  if (wanted >= 0 && wanted != static_cast<std::int64_t>(from->size()))
    context.fail("expected a list of " + std::to_string(wanted) + " tensors, got " + std::to_string(from->size()));
  const auto elements = from->elements();
  Shape shape = element_shape(context, 1);
  if (!shape.is_fully_known() && from->element_shape().is_fully_known()) shape = from->element_shape();
  for (const Tensor& element : elements)
    if (element.is_defined() && !shape.is_fully_known()) shape = element.shape();
  if (!shape.is_fully_known())
    context.fail("the shape of the tensors is known only as " + shape.to_string() + ", and none was set");
  Shape whole = shape;
  whole.insert(0, static_cast<std::int64_t>(elements.size()));
  const std::int64_t count = shape.num_elements();
  context.make_output(0, whole);
  visit_storage(dtype, [&]<class T>() {
    T* to = static_cast<T*>(mutable_data(context.output(0)));
    for (const Tensor& element : elements) {
      if (!element.is_defined()) {
        std::fill_n(to, count, T());
      } else {
        if (element.shape() != shape)
          context.fail("all tensors of the list must have one shape, got " + shape.to_string() + " and " +
                       element.shape().to_string());
        std::copy_n(static_cast<const T*>(element.raw_data()), count, to);
      }
      to += count;
    }
  });
}

void from_tensor_kernel(KernelContext& context) {
  const Tensor& whole = context.input(0);
  Shape shape = whole.shape();
  shape.erase(0);
  const std::int64_t count = whole.shape()[0], size = shape.num_elements();
  std::vector<Tensor> parts;
  visit_storage(whole.dtype(), [&]<class T>() {
    const T* from = static_cast<const T*>(whole.raw_data());
    for (std::int64_t i = 0; i < count; ++i) {
      Tensor part = new_tensor(whole.dtype(), shape);
      std::copy_n(from + i * size, size, static_cast<T*>(mutable_data(part)));
      parts.push_back(std::move(part));
    }
  });
  context.set_output(0, list_tensor(std::make_shared<const TensorList>(whole.dtype(), shape, std::move(parts))));
}

}  // namespace

KernelTable tensor_list_kernels() {
  static const KernelRow rows[] = {
      {&empty_tensor_list_op, any_type(empty_kernel)},
      {&tensor_list_reserve_op, any_type(reserve_kernel)},
      {&tensor_list_push_back_op, any_type(push_kernel)},
      {&tensor_list_pop_back_op, any_type(pop_kernel)},
      {&tensor_list_length_op, any_type(length_kernel)},
      {&tensor_list_element_shape_op, any_type(element_shape_kernel)},
      {&tensor_list_get_item_op, any_type(get_item_kernel)},
      {&tensor_list_set_item_op, any_type(set_item_kernel)},
      {&tensor_list_stack_op, any_type(stack_kernel)},
      {&tensor_list_from_tensor_op, any_type(from_tensor_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
