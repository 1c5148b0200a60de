// Windows that slide over images: what convolutions and pools have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capstan/op/infer.h"

namespace capstan {

/// One spatial dimension.
struct Window {
  std::int64_t in = 0, size = 1, out = 0;
  std::int64_t stride = 1, dilation = 1;
  std::int64_t before = 0, after = 0;  // padding
};

/// Where the dimensions of an image tensor stand.
struct ImageAxes {
  int height, width, channel;
  explicit ImageAxes(bool channels_first)
      : height(channels_first ? 2 : 1), width(channels_first ? 3 : 2), channel(channels_first ? 1 : 3) {}
};
inline bool is_channels_first(const std::string& data_format) {
  return data_format == "NCHW" || data_format == "NCDHW";
}
/// Which of `rank` dimensions holds the channels.
inline int channel_axis(const std::string& data_format, int rank) {
  return is_channels_first(data_format) ? 1 : rank - 1;
}

/// The window along dimension `axis` (of a shape with 4 dimensions) that lists of attributes describe. Sizes of -1 stay
/// unknown. `window.out` is negative if the window is larger than the padded image.
struct WindowAttributes {
  const std::vector<std::int64_t>& strides;
  const std::vector<std::int64_t>* dilations;  // null: 1
  const std::string& padding;
  const std::vector<std::int64_t>* explicit_paddings;  // null: there are none
};
Window make_window(const WindowAttributes& attributes, int axis, std::int64_t in, std::int64_t size);

/// Throws InvalidArgument unless the attributes are right for images of 4 dimensions: `list` has 4 positive numbers...
void check_window_list(const InferContext& context, const std::vector<std::int64_t>& list, const char* name);
/// ... the padding is SAME, VALID or (with `allow_explicit`) EXPLICIT with 8 numbers, none of them for batch or
/// channels...
void check_padding(const InferContext& context, const WindowAttributes& attributes, const std::string& data_format,
                   bool allow_explicit);
/// ... and the layout is NHWC or NCHW.
void check_data_format(const InferContext& context, const std::string& data_format);
/// Throws InvalidArgument if a window does not fit.
void check_fits(const InferContext& context, const Window& window, const char* name);

}  // namespace capstan
