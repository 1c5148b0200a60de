// Records of conversions, for the kernel table.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef cast_op, bitcast_op;

struct CastAttributes {
  DType DstT = DType::invalid;
  bool Truncate = false;  // cut a floating number's last digits instead of rounding
  template <class Field>
  static void fields(Field&& field) {
    field("DstT", &CastAttributes::DstT);
    field("Truncate", &CastAttributes::Truncate);
  }
};

struct BitcastAttributes {
  DType type = DType::invalid;
  template <class Field>
  static void fields(Field&& field) {
    field("type", &BitcastAttributes::type);
  }
};

}  // namespace capstan
