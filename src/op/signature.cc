#include "op/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

#include "capstan/base/error.h"

namespace capstan {
namespace {

constexpr TypeSet kFloating =
    type_bit(DType::float16) | type_bit(DType::bfloat16) | type_bit(DType::float32) | type_bit(DType::float64);
constexpr TypeSet kSigned =
    type_bit(DType::int8) | type_bit(DType::int16) | type_bit(DType::int32) | type_bit(DType::int64);
constexpr TypeSet kUnsigned =
    type_bit(DType::uint8) | type_bit(DType::uint16) | type_bit(DType::uint32) | type_bit(DType::uint64);
constexpr TypeSet kComplex = type_bit(DType::complex64) | type_bit(DType::complex128);
constexpr TypeSet kNumber = kFloating | kSigned | kUnsigned | kComplex;
constexpr TypeSet kAny =
    kNumber | type_bit(DType::boolean) | type_bit(DType::string) | type_bit(DType::resource) | type_bit(DType::variant);

struct Group {
  std::string_view name;
  TypeSet types;
};
constexpr std::array kGroups = {
    Group{"any", kAny},
    Group{"number", kNumber},
    Group{"real", kFloating | kSigned | kUnsigned},
    Group{"floating", kFloating},
    Group{"integer", kSigned | kUnsigned},
    Group{"signed", kSigned},
    Group{"unsigned", kUnsigned},
    Group{"complex", kComplex},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Signature parse() {
    signature_.name = word("the op's name");
    expect('(');
    arguments(signature_.inputs);
    expect('-');
    expect('>');
    expect('(');
    arguments(signature_.outputs);
    while (accept(';')) constraint();
    skip_spaces();
    if (!rest_.empty()) fail("unexpected text after the end");
    bind_variables();
    check_output_lists();
    return std::move(signature_);
  }

 private:
  void arguments(std::vector<Argument>& list) {
    if (accept(')')) return;
    do list.push_back(argument());
    while (accept(','));
    expect(')');
  }

  Argument argument() {
    Argument argument;
    argument.name = word("an argument's name");
    expect(':');
    std::string type = word("a type");
    if (accept('*')) {
      argument.is_list = true;
      argument.count_name = type;
      type = word("a type");
    }
    if (accept('.')) {
      expect('.');
      expect('.');
      argument.is_list = argument.is_mixed = true;
      argument.count_name = type;
      return argument;
    }
    argument.dtype = fixed_type(type);
    if (argument.dtype == DType::invalid) argument.type_variable = variable(type);
    return argument;
  }

  static DType fixed_type(std::string_view name) {
    try {
      return dtype_from_name(name);
    } catch (const NotFound&) {
      return DType::invalid;
    }
  }

  int variable(const std::string& name) {
    auto& variables = used_;
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (variables[i] == name) return static_cast<int>(i);
    variables.push_back(name);
    return static_cast<int>(variables.size()) - 1;
  }

  void constraint() {
    TypeVariable variable;
    variable.name = word("a type's name");
    expect(':');
    do variable.allowed |= types();
    while (accept('|'));
    signature_.type_variables.push_back(variable);
    if (signature_.type_variables.size() > kMaxTypeVariables)
      fail("there are more than " + std::to_string(kMaxTypeVariables) + " types");
  }

  TypeSet types() {
    if (!accept('{')) return named_types(word("a type or a group of types"));
    TypeSet set = 0;
    do set |= named_types(word("a type"));
    while (accept(','));
    expect('}');
    return set;
  }

  TypeSet named_types(std::string_view name) {
    for (const Group& group : kGroups)
      if (group.name == name) return group.types;
    const DType dtype = fixed_type(name);
    if (dtype == DType::invalid) fail("'" + std::string(name) + "' is neither a type nor a group of types");
    return type_bit(dtype);
  }

  // Arguments number their variables in the order of use; the declared order (which decides the kernel's key) wins.
  void bind_variables() {
    std::vector<int> declared(used_.size(), -1);
    for (std::size_t i = 0; i < used_.size(); ++i)
      for (std::size_t k = 0; k < signature_.type_variables.size(); ++k)
        if (signature_.type_variables[k].name == used_[i]) declared[i] = static_cast<int>(k);
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (declared[i] < 0) fail("type '" + used_[i] + "' is used but not declared after a semicolon");
    for (auto* list : {&signature_.inputs, &signature_.outputs})
      for (Argument& argument : *list)
        if (argument.type_variable >= 0)
          argument.type_variable = declared[static_cast<std::size_t>(argument.type_variable)];
  }

  bool has_types_of_its_own(const Argument& list) const {
    const auto shares = [&](const Argument& input) { return input.is_mixed && input.count_name == list.count_name; };
    return std::ranges::none_of(signature_.inputs, shares);
  }

  void check_output_lists() const {
    const auto is_list = [](const Argument& argument) { return argument.is_list; };
    const auto& [inputs, outputs] = std::tie(signature_.inputs, signature_.outputs);
    const auto list = std::ranges::find_if(outputs, is_list);
    if (list == outputs.end()) return;
    if (std::ranges::count_if(outputs, is_list) > 1) fail("there is more than one list among the outputs");
    if (!list->is_mixed || has_types_of_its_own(*list)) return;
    const auto at = static_cast<std::size_t>(list - outputs.begin());
    if (at >= inputs.size() || !inputs[at].is_mixed || std::ranges::count_if(inputs, is_list) > 1)
      fail("the mixed list '" + list->name + "' of outputs must stand where the only list of inputs does, a mixed one");
  }

  void skip_spaces() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) rest_.remove_prefix(1);
  }
  bool accept(char expected) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char expected) {
    if (!accept(expected)) fail(std::string("expected '") + expected + "'");
  }
  std::string word(const char* what) {
    skip_spaces();
    std::size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_'))
      ++length;
    if (!length) fail(std::string("expected ") + what);
    std::string result(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return result;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw InvalidArgument("op signature \"" + std::string(text_) + "\": " + why + " at position " +
                          std::to_string(text_.size() - rest_.size()));
  }

  std::string_view text_;
  std::string_view rest_;
  Signature signature_;
  std::vector<std::string> used_;
};

}  // namespace

Signature parse_signature(std::string_view text) { return Parser(text).parse(); }

std::string type_set_text(TypeSet types) {
  for (const Group& group : kGroups)
    if (group.types == types) return std::string(group.name);
  std::string text = "{";
  for (int i = 1; i < kDTypeCount; ++i)
    if (types >> i & 1) text += (text.size() > 1 ? ", " : "") + std::string(dtype_name(static_cast<DType>(i)));
  return text + "}";
}

}  // namespace capstan
