// Records and attributes of padding and repeating.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct MirrorPadAttributes {
  std::string mode;  // REFLECT leaves out the edge, SYMMETRIC repeats it
  template <class Field>
  static void fields(Field&& field) {
    field("mode", &MirrorPadAttributes::mode);
  }
};

extern const OpDef pad_op, pad_v2_op, mirror_pad_op, mirror_pad_grad_op, tile_op;

}  // namespace capstan
