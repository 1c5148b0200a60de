// Records of the segment reductions.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

extern const OpDef unsorted_segment_sum_op, unsorted_segment_prod_op, unsorted_segment_max_op, unsorted_segment_min_op;
extern const OpDef segment_sum_op, segment_mean_op, segment_prod_op, segment_max_op, segment_min_op;

}  // namespace capstan
