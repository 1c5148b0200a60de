// Records and attributes of the ops whose output sizes depend on values.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct DynamicPartitionAttributes {
  std::int64_t num_partitions = 1;
  template <class Field>
  static void fields(Field&& field) {
    field("num_partitions", &DynamicPartitionAttributes::num_partitions);
  }
};

struct UniqueAttributes {
  DType out_idx = DType::int32;
  template <class Field>
  static void fields(Field&& field) {
    field("out_idx", &UniqueAttributes::out_idx);
  }
};

extern const OpDef dynamic_partition_op, dynamic_stitch_op, unique_op, where_op;

}  // namespace capstan
