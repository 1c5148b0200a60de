// Einstein's summation.
#include "ops/einsum.h"

#include <algorithm>
#include <map>

#include "capstan/base/error.h"
#include "capstan/ops/array.h"
#include "capstan/ops/linalg.h"
#include "capstan/ops/math.h"
#include "ops/linalg.h"
#include "ops/records.h"

namespace capstan {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

[[noreturn]] void fail_equation(std::string_view equation, const std::string& why) {
  throw InvalidArgument("Einsum: equation \"" + std::string(equation) + "\" " + why);
}

/// The labels of one tensor.
std::string parse_labels(std::string_view text, std::string_view equation) {
  std::string labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (is_letter(text[i])) {
      labels += text[i];
    } else if (text.substr(i, 3) == "...") {
      if (labels.find(EinsumEquation::kEllipsis) != std::string::npos)
        fail_equation(equation, "has more than one '...' for one tensor");
      labels += EinsumEquation::kEllipsis;
      i += 2;
    } else {
      fail_equation(equation, std::string("may have letters, '...', ',' and '->' only, got '") + text[i] + "'");
    }
  }
  return labels;
}

bool has_ellipsis(std::string_view labels) { return labels.find(EinsumEquation::kEllipsis) != std::string_view::npos; }

void check_output(const EinsumEquation& parsed, std::string_view equation) {
  for (char label : parsed.output) {
    const bool is_known =
        std::ranges::any_of(parsed.inputs, [&](const std::string& in) { return in.find(label) != std::string::npos; });
    if (!is_known && label != EinsumEquation::kEllipsis)
      fail_equation(equation, std::string("has the label '") + label + "' in its output and in no input");
  }
}

}  // namespace

std::string EinsumEquation::to_string() const {
  std::string text;
  const auto add = [&](std::string_view labels) {
    for (char label : labels) text += label == kEllipsis ? std::string("...") : std::string(1, label);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i) text += ',';
    add(inputs[i]);
  }
  text += "->";
  add(output);
  return text;
}

EinsumEquation parse_einsum(std::string_view equation) {
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos || equation.find("->", arrow + 2) != std::string_view::npos)
    fail_equation(equation, "must have one '->'");
  EinsumEquation parsed;
  for (std::string_view rest = equation.substr(0, arrow);;) {
    const std::size_t comma = rest.find(',');
    parsed.inputs.push_back(parse_labels(rest.substr(0, comma), equation));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  parsed.output = parse_labels(equation.substr(arrow + 2), equation);
  check_output(parsed, equation);
  return parsed;
}

int ellipsis_rank(std::string_view labels, int rank) {
  const int named = static_cast<int>(labels.size()) - has_ellipsis(labels);
  if (has_ellipsis(labels)) return rank - named;
  return rank == named ? 0 : -1;
}

EinsumLabels expand_labels(std::string_view labels, int ellipsis_rank) {
  EinsumLabels expanded;
  for (char label : labels) {
    if (label != EinsumEquation::kEllipsis)
      expanded.push_back(label);
    else
      for (int i = ellipsis_rank - 1; i >= 0; --i) expanded.push_back(kBroadcastLabel + i);
  }
  return expanded;
}

namespace {

/// Sizes of labels, gathered from the inputs.
class LabelSizes {
 public:
  explicit LabelSizes(const InferContext& context) : context_(context) {}

  void add(std::size_t input, const EinsumLabels& labels) {
    const Shape& shape = context_.input_shape(input);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::int64_t size = shape[static_cast<int>(i)];
      auto [known, is_new] = sizes_.try_emplace(labels[i], size);
      if (!is_new) known->second = joined(labels[i], known->second, size);
    }
  }
  std::int64_t of(int label) const {
    const auto found = sizes_.find(label);
    return found == sizes_.end() ? Shape::kUnknown : found->second;
  }

 private:
  std::int64_t joined(int label, std::int64_t a, std::int64_t b) const {
    const bool broadcasts = label >= kBroadcastLabel;
    if (a == b) return a;
    if (broadcasts && a == 1) return b;
    if (broadcasts && b == 1) return a;
    if (a < 0) return b;
    if (b < 0) return a;
    context_.fail((broadcasts ? "a dimension of '...'" : std::string("the label '") + static_cast<char>(label) + "'") +
                  " must have one size, got " + std::to_string(a) + " and " + std::to_string(b) + " for \"" +
                  context_.attributes<EinsumAttributes>().equation + "\" and shapes " + all_shapes());
  }
  std::string all_shapes() const {
    std::string text;
    for (std::size_t i = 0; i < context_.input_count(); ++i)
      text += (i ? ", " : "") + context_.input_shape(i).to_string();
    return text;
  }

  const InferContext& context_;
  std::map<int, std::int64_t> sizes_;
};

void check_ellipsis_in_output(const InferContext& context, const EinsumEquation& equation, int broadcast_rank) {
  if (broadcast_rank > 0 && !has_ellipsis(equation.output))
    context.fail("equation \"" + context.attributes<EinsumAttributes>().equation +
                 "\" must have '...' in its output, for the " + std::to_string(broadcast_rank) +
                 " dimensions that it stands for in the inputs");
}

void einsum_shape(InferContext& context) {
  const EinsumEquation equation = parse_einsum(context.attributes<EinsumAttributes>().equation);
  const std::size_t count = context.input_count();
  if (equation.inputs.size() != count || count == 0)
    context.fail("equation \"" + context.attributes<EinsumAttributes>().equation + "\" is for " +
                 std::to_string(equation.inputs.size()) + " inputs, got " + std::to_string(count));
  if (count > 2)
    context.fail("takes one or two inputs, got " + std::to_string(count) + "; use capstan::einsum for more");
  LabelSizes sizes(context);
  int broadcast_rank = 0;
  bool is_rank_known = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = context.input_shape(i);
    const std::string& labels = equation.inputs[i];
    if (!shape.has_rank()) {
      is_rank_known = is_rank_known && !has_ellipsis(labels);
      continue;
    }
    const int dims = ellipsis_rank(labels, shape.rank());
    if (dims < 0)
      context.fail("input " + std::to_string(i) + " of shape " + shape.to_string() +
                   " does not have the dimensions of \"" + context.attributes<EinsumAttributes>().equation + "\"");
    broadcast_rank = std::max(broadcast_rank, dims);
    sizes.add(i, expand_labels(labels, dims));
  }
  check_ellipsis_in_output(context, equation, broadcast_rank);
  if (!is_rank_known && has_ellipsis(equation.output)) return context.set_output(0, Shape::unknown());
  Shape output;
  for (int label : expand_labels(equation.output, broadcast_rank)) output.push_back(sizes.of(label));
  context.set_output(0, output);
}

// ---- gradient -------------------------------------------------------------------------------------------------------

/// The call with its ellipses written out as letters of their own, which is how its gradients are put.
class NamedEinsum {
 public:
  explicit NamedEinsum(const OpCall& call) : call_(call) {
    const EinsumEquation equation = parse_einsum(call.attributes<EinsumAttributes>().equation);
    int broadcast_rank = 0;
    for (std::size_t i = 0; i < call.input_count(); ++i)
      broadcast_rank = std::max(broadcast_rank, ellipsis_rank(equation.inputs[i], call.input_shape(i).rank()));
    choose_letters(equation, broadcast_rank);
    for (std::size_t i = 0; i < call.input_count(); ++i)
      inputs_.push_back(named(expand_labels(
          equation.inputs[i], std::max(0, ellipsis_rank(equation.inputs[i], call.input_shape(i).rank())))));
    output_ = named(expand_labels(equation.output, broadcast_rank));
  }

  /// The gradient with respect to input `i`.
  Tensor gradient(std::size_t i, const Tensor& dy) const {
    const std::string labels = without_broadcast(i, dy);
    const Shape shape = shape_without_broadcast(i, dy);
    std::string present, absent;  // labels that dy or the other input have, and those that were summed away
    for (char label : labels) {
      const bool is_there = output_.find(label) != std::string::npos || in_other(i, label, dy);
      std::string& list = is_there ? present : absent;
      if (list.find(label) == std::string::npos) list += label;
    }
    Tensor partial = with_other(i, dy, absent.empty() ? labels : present);
    if (!absent.empty()) partial = spread(partial, present, absent, labels, shape);
    return partial.shape() == call_.input_shape(i) ? partial : reshape(partial, call_.input_shape(i));
  }

 private:
  void choose_letters(const EinsumEquation& equation, int count) {
    std::string used = equation.output;
    for (const std::string& labels : equation.inputs) used += labels;
    for (char c = 'A'; c <= 'z' && static_cast<int>(letters_.size()) < count; ++c)
      if (is_letter(c) && used.find(c) == std::string::npos) letters_ += c;
    if (static_cast<int>(letters_.size()) < count)
      throw Unimplemented("Einsum: gradient of an equation with more than 52 different dimensions");
  }
  std::string named(const EinsumLabels& labels) const {
    std::string text;
    for (int label : labels)
      text += label < kBroadcastLabel ? static_cast<char>(label)
                                      : letters_[static_cast<std::size_t>(label - kBroadcastLabel)];
    return text;
  }

  /// Was dimension `axis` of input `i` of size 1 beside a larger one?
  bool is_broadcast(std::size_t i, std::size_t axis, const Tensor& dy) const {
    const char label = inputs_[i][axis];
    if (letters_.find(label) == std::string::npos || call_.input_shape(i)[static_cast<int>(axis)] != 1) return false;
    const std::size_t at = output_.find(label);
    return at != std::string::npos && dy.shape()[static_cast<int>(at)] != 1;
  }
  std::string without_broadcast(std::size_t i, const Tensor& dy) const {
    std::string labels;
    for (std::size_t axis = 0; axis < inputs_[i].size(); ++axis)
      if (!is_broadcast(i, axis, dy)) labels += inputs_[i][axis];
    return labels;
  }
  Shape shape_without_broadcast(std::size_t i, const Tensor& dy) const {
    Shape shape;
    for (std::size_t axis = 0; axis < inputs_[i].size(); ++axis)
      if (!is_broadcast(i, axis, dy)) shape.push_back(call_.input_shape(i)[static_cast<int>(axis)]);
    return shape;
  }
  bool in_other(std::size_t i, char label, const Tensor& dy) const {
    return call_.input_count() == 2 && without_broadcast(1 - i, dy).find(label) != std::string::npos;
  }

  /// dy times the other input, if there is one, summed to `labels`.
  Tensor with_other(std::size_t i, const Tensor& dy, const std::string& labels) const {
    if (call_.input_count() == 1) return einsum(output_ + "->" + labels, {dy});
    const std::size_t other = 1 - i;
    Tensor factor = conj(call_.input(other));
    const std::string other_labels = without_broadcast(other, dy);
    if (other_labels.size() != inputs_[other].size()) factor = reshape(factor, shape_without_broadcast(other, dy));
    return einsum(output_ + "," + other_labels + "->" + labels, {dy, factor});
  }

  /// The value repeated along the labels that had been summed away.
  static Tensor spread(const Tensor& partial, const std::string& present, const std::string& absent,
                       const std::string& labels, const Shape& shape) {
    Shape before, after;
    for (char label : absent) {
      before.push_back(1);
      after.push_back(shape[static_cast<int>(labels.find(label))]);
    }
    for (std::int64_t size : partial.shape().dims()) {
      before.push_back(size);
      after.push_back(size);
    }
    return einsum(absent + present + "->" + labels, {broadcast_to(reshape(partial, before), after)});
  }

  const OpCall& call_;
  std::string letters_;  // of the ellipsis' dimensions, from the right
  std::vector<std::string> inputs_;
  std::string output_;
};

Gradients einsum_gradient(const OpCall& call, Tensor dy) {
  const NamedEinsum named(call);
  Gradients gradients(call.input_count());
  for (std::size_t i = 0; i < call.input_count(); ++i)
    if (call.needs_gradient(i)) gradients[i] = named.gradient(i, dy);
  return gradients;
}

// ---- public functions -----------------------------------------------------------------------------------------------

/// "ij,jk" means "ij,jk->ik": labels that appear once, sorted, behind the ellipsis if there is one.
std::string with_output(std::string_view equation) {
  if (equation.find("->") != std::string_view::npos) return std::string(equation);
  std::map<char, int> counts;
  for (char label : equation)
    if (is_letter(label)) ++counts[label];
  std::string output = equation.find("...") == std::string_view::npos ? "" : "...";
  for (const auto& [label, count] : counts)
    if (count == 1) output += label;
  return std::string(equation) + "->" + output;
}

Tensor einsum_of(const EinsumEquation& equation, std::span<const Tensor> inputs) {
  const EinsumAttributes attributes{equation.to_string()};
  std::vector<InputRef> refs(inputs.begin(), inputs.end());
  return apply(einsum_op, refs, &attributes);
}

/// The labels of the first two tensors that somebody still asks for.
std::string needed_later(const EinsumEquation& equation) {
  std::string later = equation.output, needed;
  for (std::size_t i = 2; i < equation.inputs.size(); ++i) later += equation.inputs[i];
  for (char label : equation.inputs[0] + equation.inputs[1])
    if (needed.find(label) == std::string::npos &&
        (later.find(label) != std::string::npos || label == EinsumEquation::kEllipsis))
      needed += label;
  return needed;
}

}  // namespace

const OpDef einsum_op{
    .signature = "Einsum(inputs: N*T) -> (output: T); T: number",
    .summary = "Einstein's summation over one or two tensors.",
    .shape = einsum_shape,
    .gradient = [](const OpCall& call, Tensor dy) { return einsum_gradient(call, std::move(dy)); },
    .forward = forward::multilinear_in_all(),
    .attributes = attributes<EinsumAttributes>,
    .saves = Saves::all_inputs(),
};

Tensor einsum(std::string_view equation, std::span<const Tensor> inputs) {
  EinsumEquation rest = parse_einsum(with_output(equation));
  if (rest.inputs.size() != inputs.size() || inputs.empty())
    throw InvalidArgument("einsum: equation \"" + std::string(equation) + "\" is for " +
                          std::to_string(rest.inputs.size()) + " tensors, got " + std::to_string(inputs.size()));
  std::vector<Tensor> tensors(inputs.begin(), inputs.end());
  while (tensors.size() > 2) {
    const std::string product = needed_later(rest);
    tensors[1] = einsum_of({{rest.inputs[0], rest.inputs[1]}, product}, std::span(tensors).first(2));
    rest.inputs[1] = product;
    rest.inputs.erase(rest.inputs.begin());
    tensors.erase(tensors.begin());
  }
  return einsum_of(rest, tensors);
}

Tensor einsum(std::string_view equation, std::initializer_list<Tensor> inputs) {
  return einsum(equation, std::span(inputs.begin(), inputs.size()));
}

}  // namespace capstan
