// The sample rows of operations that real TensorFlow ran: tests/golden/ops/FAMILY.gold, written by
// tools/golden/rows.py.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capstan/op/attribute.h"
#include "capstan/tensor/tensor.h"

namespace capstan::conformance {

struct GoldenGradients {
  bool is_registered = true;  // TensorFlow has a gradient for the op
  bool check_finite = false;  // finite differences must agree
  std::vector<Tensor> seeds;  // one per trainable output
  std::vector<Tensor> first;  // one per input; undefined where there is none
  bool has_second = false;
  std::vector<Tensor> second_seeds;  // one per trainable defined gradient of `first`
  std::vector<Tensor> second;
};

struct GoldenRow {
  std::string op;
  std::string name;
  AttributeMap attributes;
  std::vector<Tensor> inputs;
  std::string error;     // the class that must be thrown; then there are no outputs
  std::string mentions;  // what the error's message must contain; empty: a shape, type or number of the call
  float rtol = -1;       // negative: that of the element type; 0: the same bits
  float atol = -1;
  std::vector<Tensor> outputs;
  std::optional<GoldenGradients> gradients;
  /// Output shapes inferred from partly known inputs, four ways (see rows.py); empty where TensorFlow infers nothing.
  std::vector<Shape> inferred[4];
};

std::vector<GoldenRow> read_golden_rows(const std::string& path);

}  // namespace capstan::conformance
