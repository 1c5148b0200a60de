#include "capstan/op/attribute.h"

#include <cstring>
#include <sstream>

#include "capstan/base/error.h"

namespace capstan {
namespace {

template <class T>
void write(std::ostream& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    out << (value ? "true" : "false");
  else if constexpr (std::is_same_v<T, std::string>)
    out << '"' << value << '"';
  else if constexpr (std::is_same_v<T, FunctionAttribute>)
    out << value.name;
  else if constexpr (!std::is_same_v<T, std::monostate>)
    out << value;
}

template <class T>
void write(std::ostream& out, const std::vector<T>& values) {
  out << '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) out << ',';
    write(out, static_cast<T>(values[i]));
  }
  out << ']';
}

bool equal_tensors(const Tensor& a, const Tensor& b) {
  if (!a.is_defined() || !b.is_defined()) return a.is_defined() == b.is_defined();
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::string) {
    auto x = a.values<std::string>(), y = b.values<std::string>();
    return std::equal(x.begin(), x.end(), y.begin());
  }
  if (!is_plain(a.dtype())) return a.is_same(b);
  return std::memcmp(a.raw_data(), b.raw_data(), static_cast<std::size_t>(a.size()) * dtype_size(a.dtype())) == 0;
}

constexpr const char* kKindNames[] = {"nothing",
                                      "an integer",
                                      "a number",
                                      "a bool",
                                      "a string",
                                      "a type",
                                      "a shape",
                                      "a tensor",
                                      "a list of integers",
                                      "a list of numbers",
                                      "a list of bools",
                                      "a list of strings",
                                      "a list of types",
                                      "a list of shapes",
                                      "a function",
                                      "a list of functions"};

}  // namespace

std::string to_string(const AttributeValue& value) {
  std::ostringstream out;
  std::visit([&](const auto& held) { write(out, held); }, value);
  return out.str();
}

bool equal_attributes(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  if (const Tensor* tensor = std::get_if<Tensor>(&a)) return equal_tensors(*tensor, std::get<Tensor>(b));
  return std::visit(
      [&]<class T>(const T& held) {
        if constexpr (std::is_same_v<T, Tensor>)
          return true;
        else
          return held == std::get<T>(b);
      },
      a);
}

const AttributeField* AttributeSchema::find(std::string_view name) const {
  for (const AttributeField& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

AttributeMap AttributeSchema::to_map(const void* attributes) const {
  AttributeMap map;
  for (const AttributeField& field : fields) map.emplace(field.name, field.get(attributes, field.offset));
  return map;
}

std::shared_ptr<void> AttributeSchema::from_map(const AttributeMap& map, std::string_view op_name) const {
  auto result = copy(defaults.get());
  for (const auto& [name, value] : map) {
    const AttributeField* field = find(name);
    if (!field) throw InvalidArgument(std::string(op_name) + ": has no attribute '" + name + "'");
    if (field->kind != value.index())
      throw InvalidArgument(std::string(op_name) + ": attribute '" + name + "' must be " + kKindNames[field->kind] +
                            ", got " + kKindNames[value.index()]);
    field->set(result.get(), field->offset, value);
  }
  return result;
}

bool AttributeSchema::equal(const void* a, const void* b) const {
  for (const AttributeField& field : fields)
    if (!equal_attributes(field.get(a, field.offset), field.get(b, field.offset))) return false;
  return true;
}

namespace detail {

void throw_attribute_kind(std::string_view field, const AttributeValue& value) {
  throw InvalidArgument(std::string(field) + ": holds " + kKindNames[value.index()]);
}

}  // namespace detail
}  // namespace capstan
