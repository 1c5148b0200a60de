// Lists of tensors as values of type variant: what loops keep of each iteration, and TensorFlow's TensorArray.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "capstan/op/op.h"
#include "tensor/handle.h"

namespace capstan {

/// A list is the first `size` tensors of a growing array that it may share with lists made from it. Pushing onto the
/// longest one extends the array in place; onto others, copies. An undefined element was never set.
class TensorList final : public VariantValue {
 public:
  TensorList(DType dtype, Shape element_shape, std::vector<Tensor> elements = {});
  std::string type_name() const override { return "tensorflow::TensorList"; }

  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  std::size_t size() const { return size_; }
  Tensor at(std::size_t i) const;
  std::vector<Tensor> elements() const;

  std::shared_ptr<const TensorList> with_pushed(const Tensor& value) const;
  std::shared_ptr<const TensorList> without_last() const;
  /// The same with other elements.
  std::shared_ptr<const TensorList> with(std::vector<Tensor> elements) const;

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<Tensor> tensors;
    ~Shared();
  };
  TensorList(const TensorList& like, std::shared_ptr<Shared> shared, std::size_t size);

  const DType dtype_;
  const Shape element_shape_;
  const std::shared_ptr<Shared> shared_;
  const std::size_t size_;
};

/// The list in a scalar of type variant; throws InvalidArgument naming `op` if there is none.
std::shared_ptr<const TensorList> list_in(const Tensor& handle, std::string_view op);
Tensor list_tensor(std::shared_ptr<const TensorList> list);

struct ListAttributes {
  DType element_dtype = DType::float32;
  template <class Field>
  static void fields(Field&& field) {
    field("element_dtype", &ListAttributes::element_dtype);
  }
};

struct ListShapeTypeAttributes {
  DType shape_type = DType::int32;
  template <class Field>
  static void fields(Field&& field) {
    field("shape_type", &ListShapeTypeAttributes::shape_type);
  }
};

struct ListStackAttributes {
  DType element_dtype = DType::float32;
  std::int64_t num_elements = -1;
  template <class Field>
  static void fields(Field&& field) {
    field("element_dtype", &ListStackAttributes::element_dtype);
    field("num_elements", &ListStackAttributes::num_elements);
  }
};

struct ListSetAttributes {
  bool resize_if_index_out_of_bounds = false;
  template <class Field>
  static void fields(Field&& field) {
    field("resize_if_index_out_of_bounds", &ListSetAttributes::resize_if_index_out_of_bounds);
  }
};

extern const OpDef empty_tensor_list_op, tensor_list_reserve_op, tensor_list_push_back_op, tensor_list_pop_back_op,
    tensor_list_length_op, tensor_list_element_shape_op, tensor_list_get_item_op, tensor_list_set_item_op,
    tensor_list_stack_op, tensor_list_from_tensor_op;

}  // namespace capstan
