// Records and attributes of the ops whose attributes are functions: calls, branches, loops.
#pragma once

#include <string>
#include <vector>

#include "capstan/op/op.h"
#include "graph/graph_function.h"

namespace capstan {

struct CallAttributes {
  FunctionAttribute f;
  std::vector<DType> Tout;
  std::string config, config_proto, executor_type;
  template <class Field>
  static void fields(Field&& field) {
    field("f", &CallAttributes::f);
    field("Tout", &CallAttributes::Tout);
    field("config", &CallAttributes::config);
    field("config_proto", &CallAttributes::config_proto);
    field("executor_type", &CallAttributes::executor_type);
  }
};

struct IfAttributes {
  FunctionAttribute then_branch, else_branch;
  std::vector<DType> Tout;
  std::vector<Shape> output_shapes;
  template <class Field>
  static void fields(Field&& field) {
    field("then_branch", &IfAttributes::then_branch);
    field("else_branch", &IfAttributes::else_branch);
    field("Tout", &IfAttributes::Tout);
    field("output_shapes", &IfAttributes::output_shapes);
  }
};

struct CaseAttributes {
  std::vector<FunctionAttribute> branches;
  std::vector<DType> Tout;
  std::vector<Shape> output_shapes;
  template <class Field>
  static void fields(Field&& field) {
    field("branches", &CaseAttributes::branches);
    field("Tout", &CaseAttributes::Tout);
    field("output_shapes", &CaseAttributes::output_shapes);
  }
};

struct WhileAttributes {
  FunctionAttribute cond, body;
  std::vector<Shape> output_shapes;
  std::int64_t parallel_iterations = 10;
  template <class Field>
  static void fields(Field&& field) {
    field("cond", &WhileAttributes::cond);
    field("body", &WhileAttributes::body);
    field("output_shapes", &WhileAttributes::output_shapes);
    field("parallel_iterations", &WhileAttributes::parallel_iterations);
  }
};

extern const OpDef partitioned_call_op, stateful_partitioned_call_op, if_op, stateless_if_op, case_op,
    stateless_case_op, while_op, stateless_while_op;

/// The types and shapes of a function's results.
std::vector<DType> output_types(const GraphFunction& function);
std::vector<Shape> output_shapes(const GraphFunction& function);

}  // namespace capstan
