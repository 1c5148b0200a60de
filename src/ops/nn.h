// Records of the operations of neural networks, for the kernel table and each other.
#pragma once

#include <string>
#include <vector>

#include "capstan/op/op.h"
#include "ops/window.h"

namespace capstan {

struct LayoutAttributes {
  std::string data_format = "NHWC";
  template <class Field>
  static void fields(Field&& field) {
    field("data_format", &LayoutAttributes::data_format);
  }
};

struct PoolAttributes {
  std::vector<std::int64_t> ksize;
  std::vector<std::int64_t> strides;
  std::string padding;
  std::string data_format = "NHWC";
  template <class Field>
  static void fields(Field&& field) {
    field("ksize", &PoolAttributes::ksize);
    field("strides", &PoolAttributes::strides);
    field("padding", &PoolAttributes::padding);
    field("data_format", &PoolAttributes::data_format);
  }
};

struct MaxPoolAttributes {
  std::vector<std::int64_t> ksize;
  std::vector<std::int64_t> strides;
  std::string padding;
  std::vector<std::int64_t> explicit_paddings;
  std::string data_format = "NHWC";
  template <class Field>
  static void fields(Field&& field) {
    field("ksize", &MaxPoolAttributes::ksize);
    field("strides", &MaxPoolAttributes::strides);
    field("padding", &MaxPoolAttributes::padding);
    field("explicit_paddings", &MaxPoolAttributes::explicit_paddings);
    field("data_format", &MaxPoolAttributes::data_format);
  }
};

/// The windows of a pool over images of fully known shape.
struct PoolSizes {
  std::int64_t batch = 0, channels = 0;
  Window height, width;
  bool channels_first = false;
};
PoolSizes pool_sizes(const PoolAttributes& attributes, const Shape& input);
PoolSizes pool_sizes(const MaxPoolAttributes& attributes, const Shape& input);

struct TopKAttributes {
  bool sorted = true;
  DType index_type = DType::int32;
  template <class Field>
  static void fields(Field&& field) {
    field("sorted", &TopKAttributes::sorted);
    field("index_type", &TopKAttributes::index_type);
  }
};

struct BatchNormAttributes {
  float epsilon = 0.0001f;
  float exponential_avg_factor = 1.0f;
  std::string data_format = "NHWC";
  bool is_training = true;
  template <class Field>
  static void fields(Field&& field) {
    field("epsilon", &BatchNormAttributes::epsilon);
    field("exponential_avg_factor", &BatchNormAttributes::exponential_avg_factor);
    field("data_format", &BatchNormAttributes::data_format);
    field("is_training", &BatchNormAttributes::is_training);
  }
};
struct BatchNormGradAttributes {
  float epsilon = 0.0001f;
  std::string data_format = "NHWC";
  bool is_training = true;
  template <class Field>
  static void fields(Field&& field) {
    field("epsilon", &BatchNormGradAttributes::epsilon);
    field("data_format", &BatchNormGradAttributes::data_format);
    field("is_training", &BatchNormGradAttributes::is_training);
  }
};

extern const OpDef bias_add_op, bias_add_grad_op;
extern const OpDef max_pool_op, max_pool_grad_op, max_pool_grad_grad_op, avg_pool_op, avg_pool_grad_op;
extern const OpDef softmax_op, log_softmax_op, softmax_cross_entropy_op, sparse_softmax_cross_entropy_op;
extern const OpDef fused_batch_norm_v3_op, fused_batch_norm_grad_v3_op;
extern const OpDef l2_loss_op, top_k_v2_op, in_top_k_v2_op;

}  // namespace capstan
