// Kernels of the variables' family.
#include "ops/state.h"

#include <cstring>
#include <limits>
#include <mutex>

#include "capstan/base/error.h"
#include "cpu/elementwise.h"
#include "cpu/storage_types.h"
#include "cpu/tables.h"
#include "ops/variable_resource.h"
#include "tensor/element_count.h"
#include "tensor/integers.h"
#include "tensor/storage.h"

namespace capstan::cpu {
namespace {

VariableResource& variable(KernelContext& context) { return variable_of(context.input(0), context.op().name()); }

void var_handle_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<VarHandleAttributes>();
  context.set_output(0, make_resource_tensor(ResourceHandle(new VariableResource(
                            attributes.shared_name, attributes.container, attributes.dtype, attributes.shape))));
}

void var_is_initialized_kernel(KernelContext& context) {
  std::shared_lock lock(variable(context).mutex());
  *context.make_output<bool>(0) = variable(context).is_initialized();
}

void read_kernel(KernelContext& context) {
  VariableResource& from = variable(context);
  std::shared_lock lock(from.mutex());
  context.set_output(0, from.read(context.op().name()));
}

void check_run_time_shape(KernelContext& context, const VariableResource& to) {
  if (!to.value_shape().is_compatible_with(context.input(1).shape()))
    context.fail("cannot assign a value of shape " + context.input(1).shape().to_string() + " to variable '" +
                 to.name() + "' of shape " + to.value_shape().to_string());
}

void assign_kernel(KernelContext& context) {
  VariableResource& to = variable(context);
  check_run_time_shape(context, to);
  std::unique_lock lock(to.mutex());
  to.assign(context.input(1));
}

template <class T, bool kSubtract>
void assign_update_kernel(KernelContext& context) {
  VariableResource& to = variable(context);
  std::unique_lock lock(to.mutex());
  const Tensor& current = to.value(context.op().name());
  if (current.shape() != context.input(1).shape())
    context.fail("shapes must be equal: variable '" + to.name() + "' has " + current.shape().to_string() +
                 ", the value " + context.input(1).shape().to_string());
  T* x = mutable_values<T>(to.writable(context.op().name()));
  const T* y = context.data<T>(1);
  for_blocks(context.input(1).size(), kElementsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        x[i] = static_cast<T>(kSubtract ? U(U(x[i]) - U(y[i])) : U(U(x[i]) + U(y[i])));
      } else {
        x[i] = static_cast<T>(kSubtract ? x[i] - y[i] : x[i] + y[i]);
      }
    }
  });
}

void variable_shape_kernel(KernelContext& context) {
  VariableResource& from = variable(context);
  std::shared_lock lock(from.mutex());
  const Shape shape = from.value(context.op().name()).shape();
  void* to = context.make_output(0, Shape{shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) {
    if (context.output_spec(0).dtype == DType::int64)
      static_cast<std::int64_t*>(to)[i] = shape[i];
    else if (shape[i] > std::numeric_limits<std::int32_t>::max())
      context.fail("shape " + shape.to_string() + " does not fit into int32; ask for out_type int64");
    else
      static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(shape[i]);
  }
}

void destroy_kernel(KernelContext& context) {
  VariableResource& doomed = variable(context);
  std::unique_lock lock(doomed.mutex());
  if (!doomed.is_initialized() && !context.attributes<DestroyAttributes>().ignore_lookup_error)
    throw NotFound(std::string(context.op().name()) + ": variable '" + doomed.name() + "' in container '" +
                   doomed.container() + "' does not exist: it was never assigned, or has been deleted");
  doomed.clear();
}

/// Indices as 64-bit numbers, all checked against the number of rows before anything is written.
std::vector<std::int64_t> checked_indices(KernelContext& context, std::int64_t rows) {
  std::vector<std::int64_t> all = integers_of(context.input(1));
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] < 0 || all[i] >= rows)
      context.fail("indices[" + std::to_string(i) + "] = " + std::to_string(all[i]) + " is not in [0, " +
                   std::to_string(rows) + ")");
  return all;
}

/// What the shape function could not see of a variable whose shape was not declared.
void check_batch(const KernelContext& context, const Shape& table, const Shape& indices, std::int64_t batch) {
  if (table.rank() <= batch || indices.rank() < batch)
    context.fail("'batch_dims' must be in the range [0, min(rank of indices, rank of resource - 1)], got " +
                 std::to_string(batch) + " for a resource of shape " + table.to_string() + " and indices of shape " +
                 indices.to_string());
  for (int i = 0; i < batch; ++i)
    if (table[i] != indices[i])
      context.fail("the first " + std::to_string(batch) + " dimension(s) of 'resource' and 'indices' must agree " +
                   "(batch_dims), got shapes " + table.to_string() + " and " + indices.to_string());
}

void gather_kernel(KernelContext& context) {
  VariableResource& from = variable(context);
  std::shared_lock lock(from.mutex());  // for the whole run: a writer waits rather than copying a huge table
  const Tensor& table = from.value(context.op().name());
  const Shape& shape = table.shape();
  const Shape& index_shape = context.input(1).shape();
  if (shape.rank() < 1) context.fail("'resource' must have at least 1 dimension, got shape " + shape.to_string());
  check_batch(context, shape, index_shape, context.attributes<ResourceGatherAttributes>().batch_dims);
  const int batch = static_cast<int>(context.attributes<ResourceGatherAttributes>().batch_dims);
  Shape output = index_shape;
  for (int i = batch + 1; i < shape.rank(); ++i) output.push_back(shape[i]);
  const std::int64_t rows = shape[batch], width = count_of(shape, batch + 1, shape.rank());
  const std::int64_t batches = count_of(shape, 0, batch);
  const auto indices = checked_indices(context, rows);
  const std::int64_t per_batch = batches ? static_cast<std::int64_t>(indices.size()) / batches : 0;
  visit_storage(table.dtype(), [&]<class T>() {
    T* to = static_cast<T*>(context.make_output(0, output));
    const T* at = static_cast<const T*>(table.raw_data());
    const std::int64_t rows_per_block = std::max<std::int64_t>(1, kElementsPerBlock / std::max<std::int64_t>(1, width));
    for_blocks(static_cast<std::int64_t>(indices.size()), rows_per_block, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        std::copy_n(at + ((i / per_batch) * rows + indices[static_cast<std::size_t>(i)]) * width, width,
                    to + i * width);
    });
  });
}

struct ScatterAdd {
  template <class T>
  void operator()(T& to, const T& from) const {
    if constexpr (std::is_integral_v<T>)
      to = static_cast<T>(std::make_unsigned_t<T>(to) + std::make_unsigned_t<T>(from));
    else
      to = static_cast<T>(to + from);
  }
};
struct ScatterSubtract {
  template <class T>
  void operator()(T& to, const T& from) const {
    if constexpr (std::is_integral_v<T>)
      to = static_cast<T>(std::make_unsigned_t<T>(to) - std::make_unsigned_t<T>(from));
    else
      to = static_cast<T>(to - from);
  }
};
struct ScatterReplace {
  template <class T>
  void operator()(T& to, const T& from) const {
    to = from;
  }
};

template <class T, class Combine>
void scatter(KernelContext& context) {
  VariableResource& to = variable(context);
  std::unique_lock lock(to.mutex());
  const Shape shape = to.value(context.op().name()).shape();
  if (shape.rank() < 1) context.fail("'resource' must have at least 1 dimension, got shape " + shape.to_string());
  const auto indices = checked_indices(context, shape[0]);
  const std::int64_t width = count_of(shape, 1, shape.rank());
  const Tensor& updates = context.input(2);
  const bool is_scalar = updates.rank() == 0;
  if (!is_scalar && updates.size() != static_cast<std::int64_t>(indices.size()) * width)
    context.fail("'updates' of shape " + updates.shape().to_string() + " do not fit rows of shape " +
                 shape.to_string());
  T* table = static_cast<T*>(mutable_data(to.writable_sparse(context.op().name())));
  const T* from = static_cast<const T*>(updates.raw_data());
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (std::int64_t k = 0; k < width; ++k)
      Combine{}(table[indices[i] * width + k], is_scalar ? *from : from[static_cast<std::int64_t>(i) * width + k]);
}

void scatter_update_kernel(KernelContext& context) {
  visit_storage(context.input(2).dtype(), [&]<class T>() { scatter<T, ScatterReplace>(context); });
}

template <class Combine, class... Types>
KernelSet scatter_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), scatter<Types, Combine>), ...);
  return kernels;
}

template <bool kSubtract, class... Types>
KernelSet update_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), assign_update_kernel<Types, kSubtract>), ...);
  return kernels;
}

}  // namespace

KernelTable state_kernels() {
  static const KernelRow rows[] = {
      {&var_handle_op, any_type(var_handle_kernel)},
      {&var_is_initialized_op, any_type(var_is_initialized_kernel)},
      {&read_variable_op, any_type(read_kernel)},
      {&assign_variable_op, any_type(assign_kernel)},
      {&assign_add_variable_op, update_kernels<false>(NumberTypes{})},
      {&assign_sub_variable_op, update_kernels<true>(NumberTypes{})},
      {&variable_shape_op, any_type(variable_shape_kernel)},
      {&destroy_resource_op, any_type(destroy_kernel)},
      {&resource_gather_op, any_type(gather_kernel)},
      {&resource_scatter_add_op, scatter_kernels<ScatterAdd>(NumberTypes{})},
      {&resource_scatter_sub_op, scatter_kernels<ScatterSubtract>(NumberTypes{})},
      {&resource_scatter_update_op, any_type(scatter_update_kernel)},
  };
  return rows;
}

}  // namespace capstan::cpu
