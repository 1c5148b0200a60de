// The text form of an op's signature, read once at registration:
//   "Cast(x: SrcT) -> (y: DstT); SrcT: any; DstT: any"
//   "ConcatV2(values: N*T, axis: Tidx) -> (output: T); T: any; Tidx: {int32, int64}"
//   "IdentityN(input: T...) -> (output: T...)"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capstan/tensor/dtype.h"

namespace capstan {

/// A set of element types, one bit each.
using TypeSet = std::uint32_t;
/// No bit for a number that is none of the types: no set holds it.
constexpr TypeSet type_bit(DType dtype) {
  return static_cast<int>(dtype) < kDTypeCount ? TypeSet{1} << static_cast<int>(dtype) : TypeSet{0};
}

struct TypeVariable {
  std::string name;
  TypeSet allowed = 0;
};

/// More than any op of TensorFlow has; calls keep their types in an array of this size.
inline constexpr std::size_t kMaxTypeVariables = 8;

struct Argument {
  std::string name;
  DType dtype = DType::invalid;  // fixed type, or
  int type_variable = -1;        // index into Signature::type_variables
  bool is_list = false;          // N*T, N*int32 or T...
  bool is_mixed = false;         // T...: every element has its own type
  std::string count_name;        // N, or the name of the list of types
};

struct Signature {
  std::string name;
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<TypeVariable> type_variables;
};

/// Throws InvalidArgument, quoting the signature and the place that cannot be read. Among the outputs at most one is a
/// list; a mixed one takes its types from the only list among the inputs, a mixed one of the same name at the same
/// place, or from the attribute of its name.
Signature parse_signature(std::string_view text);

/// "{float32, int32}", or the group's name where one fits.
std::string type_set_text(TypeSet types);

}  // namespace capstan
