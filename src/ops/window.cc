#include "ops/window.h"

#include <algorithm>

namespace capstan {
namespace {

std::string list_text(const std::vector<std::int64_t>& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}

// No image and no attribute is larger; keeps all sums and products below within 64 bits.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

// Values of `out` for windows that are none.
constexpr std::int64_t kDoesNotFit = -2, kTooLarge = -3;

}  // namespace

Window make_window(const WindowAttributes& attributes, int axis, std::int64_t in, std::int64_t size) {
  const auto at = static_cast<std::size_t>(axis);
  Window window{in, size, Shape::kUnknown, attributes.strides[at],
                attributes.dilations ? (*attributes.dilations)[at] : 1};
  if (attributes.padding == "EXPLICIT") {
    window.before = (*attributes.explicit_paddings)[2 * at];
    window.after = (*attributes.explicit_paddings)[2 * at + 1];
  }
  if (in > kLargest || size > kLargest) {
    window.out = kTooLarge;
    return window;
  }
  if (in < 0) return window;
  if (attributes.padding == "SAME") window.out = (in + window.stride - 1) / window.stride;
  if (size < 0) return window;
  const std::int64_t reach = (size - 1) * window.dilation + 1;
  if (attributes.padding == "SAME") {
    const std::int64_t total = std::max<std::int64_t>(0, (window.out - 1) * window.stride + reach - in);
    window.before = total / 2;
    window.after = total - window.before;
  } else {
    const std::int64_t free = in + window.before + window.after - reach;
    window.out = free + window.stride < 0 ? kDoesNotFit : (free + window.stride) / window.stride;
  }
  return window;
}

void check_window_list(const InferContext& context, const std::vector<std::int64_t>& list, const char* name) {
  const auto is_bad = [](std::int64_t value) { return value < 1 || value > kLargest; };
  if (list.size() != 4 || std::ranges::any_of(list, is_bad))
    context.fail("attribute '" + std::string(name) + "' must have 4 positive numbers, got " + list_text(list));
}

void check_data_format(const InferContext& context, const std::string& data_format) {
  if (data_format != "NHWC" && data_format != "NCHW")
    context.fail("attribute 'data_format' must be \"NHWC\" or \"NCHW\", got \"" + data_format + "\"");
}

void check_padding(const InferContext& context, const WindowAttributes& attributes, const std::string& data_format,
                   bool allow_explicit) {
  const bool is_explicit = allow_explicit && attributes.padding == "EXPLICIT";
  if (attributes.padding != "SAME" && attributes.padding != "VALID" && !is_explicit)
    context.fail("attribute 'padding' must be \"SAME\", \"VALID\"" +
                 std::string(allow_explicit ? " or \"EXPLICIT\"" : "") + ", got \"" + attributes.padding + "\"");
  if (!attributes.explicit_paddings) return;
  const std::vector<std::int64_t>& list = *attributes.explicit_paddings;
  if (!is_explicit) {
    if (!list.empty())
      context.fail("attribute 'explicit_paddings' must be empty unless the padding is \"EXPLICIT\", got " +
                   list_text(list));
    return;
  }
  const auto channel = static_cast<std::size_t>(ImageAxes(is_channels_first(data_format)).channel);
  const auto is_bad = [](std::int64_t value) { return value < 0 || value > kLargest; };
  if (list.size() != 8 || std::ranges::any_of(list, is_bad) || list[0] || list[1] || list[2 * channel] ||
      list[2 * channel + 1])
    context.fail(
        "attribute 'explicit_paddings' must have 8 numbers of at least 0, those of batch and channels being 0, got " +
        list_text(list));
}

void check_fits(const InferContext& context, const Window& window, const char* name) {
  if (window.out == kTooLarge)
    context.fail("images and windows are at most " + std::to_string(kLargest) + " long, got a window's " +
                 std::string(name) + " of " + std::to_string(window.size) + " and an image of " +
                 std::to_string(window.in));
  if (window.out == kDoesNotFit)
    context.fail("the window's " + std::string(name) + " of " + std::to_string(window.size) + " (dilation " +
                 std::to_string(window.dilation) + ") does not fit into an image of " + std::to_string(window.in) +
                 " with padding " + std::to_string(window.before) + " and " + std::to_string(window.after));
}

}  // namespace capstan
