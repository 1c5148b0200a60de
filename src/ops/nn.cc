// The family `nn`, joined: its records stand in files of their own.
#include "ops/nn.h"

#include "ops/convolution.h"
#include "ops/records.h"

namespace capstan {

OpList nn_ops() {
  static constexpr const OpDef* list[] = {
      &conv_2d_op,
      &conv_2d_backprop_input_op,
      &conv_2d_backprop_filter_op,
      &depthwise_conv_2d_op,
      &depthwise_conv_2d_backprop_input_op,
      &depthwise_conv_2d_backprop_filter_op,
      &bias_add_op,
      &bias_add_grad_op,
      &max_pool_op,
      &max_pool_grad_op,
      &max_pool_grad_grad_op,
      &avg_pool_op,
      &avg_pool_grad_op,
      &softmax_op,
      &log_softmax_op,
      &softmax_cross_entropy_op,
      &sparse_softmax_cross_entropy_op,
      &fused_batch_norm_v3_op,
      &fused_batch_norm_grad_v3_op,
      &top_k_v2_op,
      &in_top_k_v2_op,
      &l2_loss_op,
  };
  return list;
}

}  // namespace capstan
