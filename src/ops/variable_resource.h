// The storage behind a variable's handle. Reads are snapshots that share the buffer; a dense update copies only while a
// reader still holds it. The first sparse access turns the variable to copy-on-read, after which sparse updates work in
// place and dense reads copy.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>

#include "capstan/tensor/tensor.h"
#include "tensor/handle.h"

namespace capstan {

class VariableResource final : public Resource {
 public:
  VariableResource(std::string name, std::string container, DType dtype, Shape shape);

  std::string name() const override { return name_; }
  const std::string& container() const { return container_; }
  DType value_dtype() const override { return dtype_; }
  /// The declared shape, which may be partly known.
  Shape value_shape() const override { return shape_; }
  /// The order in which variables were made in this process.
  std::uint64_t sequence() const { return sequence_; }
  /// Set once, by the variable that makes the storage.
  void set_trainable(bool trainable) { is_trainable_ = trainable; }
  bool is_trainable() const override { return is_trainable_; }
  /// What `Variable` knows of the storage beside its value; set once, with it.
  void set_info(std::shared_ptr<const void> info) { info_ = std::move(info); }
  const std::shared_ptr<const void>& info() const { return info_; }

  // The functions below need the mutex: `read` and `value` shared, the others exclusive.
  std::shared_mutex& mutex() const { return mutex_; }
  bool is_initialized() const { return value_.is_defined(); }
  /// A snapshot. Throws FailedPrecondition if there is no value.
  Tensor read(std::string_view op) const;
  /// The value itself, for as long as the mutex is held.
  const Tensor& value(std::string_view op) const;
  void assign(const Tensor& value);
  void clear() { value_ = Tensor(); }
  /// The value, owned by nobody else, to be written in place.
  Tensor& writable(std::string_view op);
  /// Turns to copy-on-read and gives the value to be written in place.
  Tensor& writable_sparse(std::string_view op);

 private:
  [[noreturn]] void fail_uninitialized(std::string_view op) const;
  void unshare();

  const std::string name_;
  const std::string container_;
  const DType dtype_;
  const Shape shape_;
  const std::uint64_t sequence_;
  mutable std::shared_mutex mutex_;
  Tensor value_;
  bool copies_on_read_ = false;
  bool is_trainable_ = false;
  std::shared_ptr<const void> info_;
};

/// The variable behind a handle; throws TypeError if the handle is of something else.
VariableResource& variable_of(const Tensor& handle, std::string_view op);

}  // namespace capstan
