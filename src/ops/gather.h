// Records and attributes of gathering and scattering.
#pragma once

#include <string>
#include <string_view>

#include "capstan/op/op.h"

namespace capstan {

struct GatherAttributes {
  std::int64_t batch_dims = 0;
  template <class Field>
  static void fields(Field&& field) {
    field("batch_dims", &GatherAttributes::batch_dims);
  }
};

/// "", "DEFAULT", "ERROR": a bad index is an error. "IGNORE": it is left out (gathering gives 0 there).
struct BadIndices {
  std::string bad_indices_policy;
  template <class Field>
  static void fields(Field&& field) {
    field("bad_indices_policy", &BadIndices::bad_indices_policy);
  }
  bool ignores() const { return bad_indices_policy == "IGNORE"; }
  /// Throws InvalidArgument for a word that is none of the above.
  void check(const InferContext& context) const;
};

/// The gradient of gathering from `params` along `axis`. dy is [batch, outer, index, inner]; its rows are summed by
/// index into [batch, params[axis], outer, inner], whose dimensions then go back to their places.
Tensor dense_gather_gradient(std::string_view op, const Tensor& dy, const Shape& params, Tensor indices, int axis,
                             int batch);

extern const OpDef gather_v2_op, gather_nd_op;
extern const OpDef scatter_nd_op, tensor_scatter_update_op, tensor_scatter_add_op, tensor_scatter_sub_op;

}  // namespace capstan
