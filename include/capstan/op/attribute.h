// Attributes of operations. An op's attributes are one small struct; a list of its fields serves comparison, printing,
// saving and loading:
//
//   struct MatMulAttributes {
//     bool transpose_a = false;
//     bool transpose_b = false;
//     template <class Field>
//     static void fields(Field&& field) {
//       field("transpose_a", &MatMulAttributes::transpose_a);
//       field("transpose_b", &MatMulAttributes::transpose_b);
//     }
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "capstan/tensor/tensor.h"

namespace capstan {

class GraphFunction;

/// A function as an attribute of a call, a branch or a loop: by its name, and the function itself where it is known.
struct FunctionAttribute {
  std::string name;
  std::shared_ptr<const GraphFunction> function;

  bool operator==(const FunctionAttribute&) const = default;
};

/// The value of one attribute: what TensorFlow's files can hold.
using AttributeValue =
    std::variant<std::monostate, std::int64_t, float, bool, std::string, DType, Shape, Tensor,
                 std::vector<std::int64_t>, std::vector<float>, std::vector<bool>, std::vector<std::string>,
                 std::vector<DType>, std::vector<Shape>, FunctionAttribute, std::vector<FunctionAttribute>>;
using AttributeMap = std::map<std::string, AttributeValue, std::less<>>;

/// "3", "true", "\"SAME\"", "float32", "[1,2]".
std::string to_string(const AttributeValue& value);
bool equal_attributes(const AttributeValue& a, const AttributeValue& b);

/// One field of an attribute struct, with its type erased.
struct AttributeField {
  std::string_view name;
  std::ptrdiff_t offset;
  std::size_t kind;  // index into AttributeValue
  AttributeValue (*get)(const void* attributes, std::ptrdiff_t offset);
  void (*set)(void* attributes, std::ptrdiff_t offset, const AttributeValue& value);
};

/// An attribute struct, with its type erased.
struct AttributeSchema {
  std::vector<AttributeField> fields;
  std::shared_ptr<const void> defaults;
  std::size_t size = 0;
  std::shared_ptr<void> (*copy)(const void* attributes) = nullptr;

  const AttributeField* find(std::string_view name) const;
  AttributeMap to_map(const void* attributes) const;
  /// Defaults, overwritten by the entries of `map`. Names that are no field are an InvalidArgument; so are values of
  /// another kind.
  std::shared_ptr<void> from_map(const AttributeMap& map, std::string_view op_name) const;
  bool equal(const void* a, const void* b) const;
};

namespace detail {

[[noreturn]] void throw_attribute_kind(std::string_view field, const AttributeValue& value);

template <class T>
const T& attribute_as(const AttributeValue& value, std::string_view field) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  throw_attribute_kind(field, value);
}

template <class Attributes>
class SchemaBuilder {
 public:
  template <class T>
  void operator()(std::string_view name, T Attributes::*member) {
    static const Attributes sample{};
    const auto offset =
        reinterpret_cast<const std::byte*>(&(sample.*member)) - reinterpret_cast<const std::byte*>(&sample);
    schema.fields.push_back({name, offset, AttributeValue(T{}).index(),
                             [](const void* attributes, std::ptrdiff_t at) -> AttributeValue {
                               return *reinterpret_cast<const T*>(static_cast<const std::byte*>(attributes) + at);
                             },
                             [](void* attributes, std::ptrdiff_t at, const AttributeValue& value) {
                               *reinterpret_cast<T*>(static_cast<std::byte*>(attributes) + at) =
                                   attribute_as<T>(value, "attribute");
                             }});
  }
  AttributeSchema schema;
};

}  // namespace detail

/// The schema of an attribute struct; its address is given to the op record.
template <class Attributes>
const AttributeSchema& attributes() {
  static const AttributeSchema schema = [] {
    detail::SchemaBuilder<Attributes> builder;
    Attributes::fields(builder);
    builder.schema.defaults = std::make_shared<const Attributes>();
    builder.schema.size = sizeof(Attributes);
    builder.schema.copy = [](const void* from) -> std::shared_ptr<void> {
      return std::make_shared<Attributes>(*static_cast<const Attributes*>(from));
    };
    return std::move(builder.schema);
  }();
  return schema;
}

}  // namespace capstan
