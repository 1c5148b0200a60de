// Tensors as text, as NumPy's `str` writes arrays: numbers aligned in columns with up to eight digits after the point,
// lines of 75 characters, and the middle left out above 1000 elements.
#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <vector>

#include "capstan/tensor/tensor.h"
#include "tensor/handle.h"
#include "tensor/number_text.h"
#include "tensor/string_literal.h"
#include "tensor/type_switch.h"

namespace capstan {
namespace {

constexpr int kPrecision = 8;
constexpr std::int64_t kSummariseAbove = 1000;
constexpr std::int64_t kEdge = 3;  // elements at each end of an axis that a summary shows
constexpr int kLineWidth = 75;

using Word = std::function<std::string(std::int64_t element)>;

std::string pad_left(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
std::string pad_right(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

/// One format for all shown elements of a floating type.
template <class T>
class FloatFormat {
 public:
  FloatFormat(const std::vector<T>& shown, bool always_sign) : always_sign_(always_sign) {
    std::vector<T> finite;
    std::copy_if(shown.begin(), shown.end(), std::back_inserter(finite),
                 [](T x) { return std::isfinite(float_of(x)); });
    has_exponent_ = needs_exponent(finite);
    for (T value : finite)
      widen(parts(has_exponent_ ? scientific_text(value, kPrecision) : positional_text(value, kPrecision)));
    if (finite.size() < shown.size()) {  // the padding must hold "nan" and "inf"
      const bool has_sign =
          always_sign || std::any_of(shown.begin(), shown.end(), [](T x) { return float_of(x) == -kInfinity; });
      const std::size_t rest = right_width() + 1, word = has_sign ? 4 : 3;
      if (word > rest) before_ = std::max(before_, word - rest);
    }
  }

  std::string operator()(T value) const {
    if (!std::isfinite(float_of(value))) return pad_left(signed_text(scalar_text(value)), before_ + right_width() + 1);
    if (!has_exponent_) {
      const Parts p = parts(positional_text(value, kPrecision));
      return pad_left(p.before, before_) + "." + pad_right(p.after, after_);
    }
    const Parts p = parts(padded_scientific_text(value, static_cast<int>(after_)));
    return pad_left(p.before, before_) + "." + p.after + "e" + p.exponent.substr(0, 1) +
           std::string(exponent_ - p.exponent.size(), '0') + p.exponent.substr(1);
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Parts {  // "-1" "25" "+01" of "-1.25e+01"
    std::string before, after, exponent;
  };

  static double float_of(T value) { return static_cast<double>(value); }
  static bool needs_exponent(const std::vector<T>& finite) {
    T smallest{}, largest{};
    for (T value : finite) {
      const T size = static_cast<T>(std::abs(value));
      if (float_of(size) == 0) continue;
      if (float_of(smallest) == 0 || size < smallest) smallest = size;
      if (size > largest) largest = size;
    }
    if (float_of(largest) == 0) return false;
    // The limits and the quotient are rounded to the element type, as NumPy does.
    return float_of(largest) >= exponent_from<T>(false) || smallest < static_cast<T>(0.0001) ||
           static_cast<T>(largest / smallest) > static_cast<T>(1000.0);
  }
  std::string signed_text(const std::string& text) const {
    return always_sign_ && text.front() != '-' ? "+" + text : text;
  }
  Parts parts(const std::string& number) const {
    const std::string text = signed_text(number);
    const auto point = text.find('.');
    const auto e = std::min(text.find('e'), text.size());
    return {text.substr(0, point), text.substr(point + 1, e - point - 1),
            e < text.size() ? text.substr(e + 1) : std::string()};
  }
  void widen(const Parts& p) {
    before_ = std::max(before_, p.before.size());
    after_ = std::max(after_, p.after.size());
    exponent_ = std::max(exponent_, p.exponent.size());
  }
  std::size_t right_width() const { return after_ + (exponent_ ? exponent_ + 1 : 0); }
  bool always_sign_;
  bool has_exponent_ = false;
  std::size_t before_ = 0, after_ = 0, exponent_ = 0;
};

template <class T>
std::string complex_scalar_text(std::complex<T> value) {
  const std::string imaginary = scalar_text(value.imag(), true) + "j";
  if (value.real() == 0 && !std::signbit(value.real())) return imaginary;
  const bool has_sign = imaginary.front() == '-';
  return "(" + scalar_text(value.real(), true) + (has_sign ? "" : "+") + imaginary + ")";
}

template <class T>
Word complex_word(const std::complex<T>* elements, const std::vector<std::int64_t>& shown) {
  std::vector<T> real, imaginary;
  for (std::int64_t i : shown) {
    real.push_back(elements[i].real());
    imaginary.push_back(elements[i].imag());
  }
  return [=, real_format = FloatFormat<T>(real, false),
          imaginary_format = FloatFormat<T>(imaginary, true)](std::int64_t i) {
    std::string text = imaginary_format(elements[i].imag());
    text.insert(text.find_last_not_of(' ') + 1, "j");
    return real_format(elements[i].real()) + text;
  };
}

template <class T>
Word integer_word(const T* elements, const std::vector<std::int64_t>& shown) {
  std::size_t width = 0;
  for (std::int64_t i : shown) width = std::max(width, std::to_string(elements[i]).size());
  return [=](std::int64_t i) { return pad_left(std::to_string(elements[i]), width); };
}

template <class T>
Word float_word(const T* elements, const std::vector<std::int64_t>& shown) {
  std::vector<T> values;
  for (std::int64_t i : shown) values.push_back(elements[i]);
  return [=, format = FloatFormat<T>(values, false)](std::int64_t i) { return format(elements[i]); };
}

template <class T>
Word number_word(const T* elements, const std::vector<std::int64_t>& shown) {
  if constexpr (std::is_same_v<T, bool>)
    return [=](std::int64_t i) -> std::string { return elements[i] ? " True" : "False"; };
  else if constexpr (std::is_integral_v<T>)
    return integer_word(elements, shown);
  else if constexpr (is_complex(dtype_of<T>()))
    return complex_word(elements, shown);
  else
    return float_word(elements, shown);
}

template <class T>
std::string number_scalar(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "True" : "False";
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else if constexpr (is_complex(dtype_of<T>()))
    return complex_scalar_text(value);
  else
    return scalar_text(value);
}

std::string resource_text(const ResourceHandle& handle) {
  return handle.get() ? "<resource " + handle.get()->name() + ">" : "<resource>";
}
std::string variant_text(const Variant& variant) {
  return variant ? "<variant " + variant->type_name() + ">" : "<variant>";
}

std::string scalar(const Tensor& tensor) {
  const void* data = tensor.raw_data();
  switch (tensor.dtype()) {
    case DType::string:
      return *static_cast<const std::string*>(data);
    case DType::resource:
      return resource_text(*static_cast<const ResourceHandle*>(data));
    case DType::variant:
      return variant_text(*static_cast<const Variant*>(data));
    default:
      return visit_number(tensor.dtype(), [&]<class T>() { return number_scalar(*static_cast<const T*>(data)); });
  }
}

Word word_of(const Tensor& tensor, const std::vector<std::int64_t>& shown) {
  const void* data = tensor.raw_data();
  switch (tensor.dtype()) {
    case DType::string:
      return [=](std::int64_t i) { return string_literal(static_cast<const std::string*>(data)[i]); };
    case DType::resource:
      return [=](std::int64_t i) { return resource_text(static_cast<const ResourceHandle*>(data)[i]); };
    case DType::variant:
      return [=](std::int64_t i) { return variant_text(static_cast<const Variant*>(data)[i]); };
    default:
      return visit_number(tensor.dtype(), [&]<class T>() { return number_word(static_cast<const T*>(data), shown); });
  }
}

/// Brackets, line breaks and the dots of a summary around the words of the elements.
class Layout {
 public:
  explicit Layout(const Shape& shape) : dims_(shape.dims()), is_summary_(shape.num_elements() > kSummariseAbove) {}

  /// The elements that are shown, in order.
  std::vector<std::int64_t> shown() const {
    std::vector<std::int64_t> elements;
    collect(0, 0, elements);
    return elements;
  }
  std::string text(const Word& word) const { return axis_text(0, 0, 1, kLineWidth, word); }

 private:
  std::int64_t size(int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  bool has_gap(int axis) const { return is_summary_ && size(axis) > 2 * kEdge; }
  bool is_innermost(int axis) const { return axis + 1 == static_cast<int>(dims_.size()); }

  /// Calls `visit(i)` for the shown positions of an axis and `gap()` where some are left out.
  template <class Visit, class Gap>
  void walk(int axis, Visit&& visit, Gap&& gap) const {
    for (std::int64_t i = 0; i < size(axis); ++i) {
      if (has_gap(axis) && i == kEdge) {
        gap();
        i = size(axis) - kEdge;
      }
      visit(i);
    }
  }

  void collect(int axis, std::int64_t first, std::vector<std::int64_t>& elements) const {
    if (axis == static_cast<int>(dims_.size())) return elements.push_back(first);
    walk(
        axis, [&](std::int64_t i) { collect(axis + 1, first * size(axis) + i, elements); }, [] {});
  }

  std::string axis_text(int axis, std::int64_t first, int indent, int width, const Word& word) const {
    const std::string body =
        is_innermost(axis) ? row_text(axis, first, indent, width, word) : block_text(axis, first, indent, width, word);
    return "[" + body + "]";
  }

  std::string block_text(int axis, std::int64_t first, int indent, int width, const Word& word) const {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    const std::string line_ends(dims_.size() - static_cast<std::size_t>(axis) - 1, '\n');
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : line_ends + margin) + part; };
    walk(
        axis, [&](std::int64_t i) { add(axis_text(axis + 1, first * size(axis) + i, indent + 1, width - 1, word)); },
        [&] { add("..."); });
    return text;
  }

  std::string row_text(int axis, std::int64_t first, int indent, int width, const Word& word) const {
    std::string text;
    int column = indent;  // where the next word begins
    const auto add = [&](const std::string& part) {
      const int length = static_cast<int>(count_characters(part));
      if (column > indent && column + length > width - 1) {
        text.erase(text.find_last_not_of(' ') + 1);
        text += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
        column = indent;
      }
      text += part + " ";
      column += length + 1;
    };
    walk(
        axis, [&](std::int64_t i) { add(word(first * size(axis) + i)); }, [&] { add("..."); });
    text.pop_back();
    return text;
  }

  std::span<const std::int64_t> dims_;
  bool is_summary_;
};

// NumPy writes "[]" for all empty arrays; its longer form tells their shape, and so does this.
std::string empty_text(const Shape& shape) {
  if (shape.rank() == 1) return "[]";
  std::string text = "[], shape=(";
  for (int i = 0; i < shape.rank(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ")";
}

}  // namespace

std::string Tensor::to_string() const {
  if (is_symbolic()) return "<symbolic " + std::string(dtype_name(dtype())) + " " + shape().to_string() + ">";
  if (rank() == 0) return scalar(*this);
  if (size() == 0) return empty_text(shape());
  const Layout layout(shape());
  return layout.text(word_of(*this, layout.shown()));
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }

}  // namespace capstan
