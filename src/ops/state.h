// Records and attributes of the variables' family: making, reading, assigning, sparse access.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct VarHandleAttributes {
  std::string container;
  std::string shared_name;
  DType dtype = DType::float32;
  Shape shape = Shape::unknown();
  template <class Field>
  static void fields(Field&& field) {
    field("container", &VarHandleAttributes::container);
    field("shared_name", &VarHandleAttributes::shared_name);
    field("dtype", &VarHandleAttributes::dtype);
    field("shape", &VarHandleAttributes::shape);
  }
};

struct VariableAttributes {
  DType dtype = DType::float32;
  template <class Field>
  static void fields(Field&& field) {
    field("dtype", &VariableAttributes::dtype);
  }
};

struct AssignAttributes {
  DType dtype = DType::float32;
  bool validate_shape = false;
  template <class Field>
  static void fields(Field&& field) {
    field("dtype", &AssignAttributes::dtype);
    field("validate_shape", &AssignAttributes::validate_shape);
  }
};

struct VariableShapeAttributes {
  DType out_type = DType::int32;
  template <class Field>
  static void fields(Field&& field) {
    field("out_type", &VariableShapeAttributes::out_type);
  }
};

struct DestroyAttributes {
  bool ignore_lookup_error = true;
  template <class Field>
  static void fields(Field&& field) {
    field("ignore_lookup_error", &DestroyAttributes::ignore_lookup_error);
  }
};

struct ResourceGatherAttributes {
  std::int64_t batch_dims = 0;
  bool validate_indices = true;
  DType dtype = DType::float32;
  template <class Field>
  static void fields(Field&& field) {
    field("batch_dims", &ResourceGatherAttributes::batch_dims);
    field("validate_indices", &ResourceGatherAttributes::validate_indices);
    field("dtype", &ResourceGatherAttributes::dtype);
  }
};

extern const OpDef var_handle_op, var_is_initialized_op, read_variable_op, assign_variable_op, assign_add_variable_op,
    assign_sub_variable_op, variable_shape_op, destroy_resource_op, resource_gather_op, resource_scatter_add_op,
    resource_scatter_sub_op, resource_scatter_update_op;

}  // namespace capstan
