// Records and attributes of the reductions and scans.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct ReduceAttributes {
  bool keep_dims = false;
  template <class Field>
  static void fields(Field&& field) {
    field("keep_dims", &ReduceAttributes::keep_dims);
  }
};

struct ArgAttributes {
  DType output_type = DType::int64;
  template <class Field>
  static void fields(Field&& field) {
    field("output_type", &ArgAttributes::output_type);
  }
};

struct ScanAttributes {
  bool exclusive = false;  // each element combines those before it, without itself
  bool reverse = false;    // from the end
  template <class Field>
  static void fields(Field&& field) {
    field("exclusive", &ScanAttributes::exclusive);
    field("reverse", &ScanAttributes::reverse);
  }
};

extern const OpDef sum_op, mean_op, prod_op, max_op, min_op, all_op, any_op, euclidean_norm_op;
extern const OpDef arg_max_op, arg_min_op;
extern const OpDef cumsum_op, cumprod_op;

}  // namespace capstan
