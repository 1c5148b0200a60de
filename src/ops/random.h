// Records and attributes of the random family.
#pragma once

#include "capstan/op/op.h"

namespace capstan {

struct StatelessAttributes {
  DType dtype = DType::float32;
  template <class Field>
  static void fields(Field&& field) {
    field("dtype", &StatelessAttributes::dtype);
  }
};

struct StatefulRandomAttributes {
  DType dtype = DType::float32;
  std::int64_t seed = 0;
  std::int64_t seed2 = 0;
  template <class Field>
  static void fields(Field&& field) {
    field("dtype", &StatefulRandomAttributes::dtype);
    field("seed", &StatefulRandomAttributes::seed);
    field("seed2", &StatefulRandomAttributes::seed2);
  }
};

/// Values of the argument `alg`.
enum class RandomAlgorithm : std::int32_t { philox = 1, threefry = 2, automatic = 3 };

extern const OpDef stateless_random_get_key_counter_op, stateless_random_get_alg_op, stateless_random_uniform_v2_op,
    stateless_random_normal_v2_op, stateless_truncated_normal_v2_op, stateless_random_uniform_int_v2_op,
    stateless_random_uniform_full_int_v2_op, random_uniform_op, random_standard_normal_op, truncated_normal_op;

}  // namespace capstan
