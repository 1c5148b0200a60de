// Records and attributes of joining and splitting.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct PackAttributes {
  std::int64_t axis = 0;
  template <class Field>
  static void fields(Field&& field) {
    field("axis", &PackAttributes::axis);
  }
};

struct UnpackAttributes {
  std::int64_t num = 0;
  std::int64_t axis = 0;
  template <class Field>
  static void fields(Field&& field) {
    field("num", &UnpackAttributes::num);
    field("axis", &UnpackAttributes::axis);
  }
};

struct SplitAttributes {
  std::int64_t num_split = 1;
  template <class Field>
  static void fields(Field&& field) {
    field("num_split", &SplitAttributes::num_split);
  }
};

extern const OpDef concat_v2_op, concat_offset_op, pack_op;
extern const OpDef unpack_op, split_op, split_v_op;

}  // namespace capstan
