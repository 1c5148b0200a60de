// Convolutions against their definition, on oneDNN and on our own loops.
#include "cpu/convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/memory.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/ops/array.h"
#include "capstan/ops/nn.h"
#include "capstan/ops/reduce.h"
#include "cpu/onednn.h"

namespace capstan::cpu {
namespace {

Tensor numbers(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (float& value : values) value = uniform(random);
  return constant(std::span<const float>(values), shape);
}

struct Case {
  Shape input, filter;
  ConvolutionOptions options;
};

/// Calls `body(input element, filter element, output element)` for each product of the definition, NHWC.
template <class Body>
void for_products(const ConvolutionSizes& s, Body&& body) {
  const std::int64_t depth = s.in_channels / s.groups, wide = s.out_channels / s.groups;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t y = 0; y < s.height.out; ++y)
      for (std::int64_t x = 0; x < s.width.out; ++x)
        for (std::int64_t i = 0; i < s.height.size; ++i)
          for (std::int64_t j = 0; j < s.width.size; ++j) {
            const std::int64_t in_y = y * s.height.stride + i * s.height.dilation - s.height.before;
            const std::int64_t in_x = x * s.width.stride + j * s.width.dilation - s.width.before;
            if (in_y < 0 || in_y >= s.height.in || in_x < 0 || in_x >= s.width.in) continue;
            for (std::int64_t o = 0; o < s.out_channels; ++o)
              for (std::int64_t c = 0; c < depth; ++c)
                body(((n * s.height.in + in_y) * s.width.in + in_x) * s.in_channels + o / wide * depth + c,
                     ((i * s.width.size + j) * depth + c) * s.out_channels + o,
                     ((n * s.height.out + y) * s.width.out + x) * s.out_channels + o);
          }
}

void expect_near(const std::vector<double>& expected, const Tensor& got, const char* what) {
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), got.size()) << what;
  const auto values = got.values<float>();
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], values[i], 1e-4 * (1 + std::abs(expected[i]))) << what << " element " << i;
}

Tensor to_nchw(const Tensor& x) { return transpose(x, {0, 3, 1, 2}); }
Tensor to_nhwc(const Tensor& x) { return transpose(x, {0, 2, 3, 1}); }

/// Forward and both gradients of one case in both layouts.
void check(const Case& c) {
  const Tensor input = numbers(c.input, 1), filter = numbers(c.filter, 2);
  const std::vector<std::int64_t> strides{1, c.options.strides.front(), c.options.strides.back(), 1};
  const std::vector<std::int64_t> dilations{1, c.options.dilations.front(), c.options.dilations.back(), 1};
  ConvolutionAttributes attributes{strides, true, c.options.padding, c.options.explicit_paddings, "NHWC", dilations};
  const ConvolutionSizes s = convolution_sizes(attributes, c.input, c.filter);
  const Shape output{s.batch, s.height.out, s.width.out, s.out_channels};
  const Tensor dy = numbers(output, 3);
  std::vector<double> y(static_cast<std::size_t>(output.num_elements())), dx(static_cast<std::size_t>(input.size())),
      df(static_cast<std::size_t>(filter.size()));
  const auto xs = input.values<float>(), fs = filter.values<float>(), gs = dy.values<float>();
  for_products(s, [&](std::int64_t at_x, std::int64_t at_f, std::int64_t at_y) {
    const auto i = static_cast<std::size_t>(at_x), f = static_cast<std::size_t>(at_f),
               o = static_cast<std::size_t>(at_y);
    y[o] += static_cast<double>(xs[i]) * fs[f];
    dx[i] += static_cast<double>(gs[o]) * fs[f];
    df[f] += static_cast<double>(gs[o]) * xs[i];
  });
  for (bool channels_first : {false, true}) {
    SCOPED_TRACE(channels_first ? "NCHW" : "NHWC");
    ConvolutionOptions options = c.options;
    const Tensor x = channels_first ? to_nchw(input) : input, seed = channels_first ? to_nchw(dy) : dy;
    if (channels_first) {
      options.data_format = "NCHW";
      if (!options.explicit_paddings.empty()) {
        const auto p = options.explicit_paddings;
        options.explicit_paddings = {0, 0, 0, 0, p[2], p[3], p[4], p[5]};
      }
    }
    GradientTape tape({.persistent = true});
    tape.watch(x);
    tape.watch(filter);
    const Tensor out = conv2d(x, filter, options);
    const Tensor d_input = tape.gradient(out, x, {.output_gradients = {seed}});
    const Tensor d_filter = tape.gradient(out, filter, {.output_gradients = {seed}});
    expect_near(y, channels_first ? to_nhwc(out) : out, "output");
    expect_near(dx, channels_first ? to_nhwc(d_input) : d_input, "gradient of the input");
    expect_near(df, d_filter, "gradient of the filter");
  }
}

std::vector<Case> cases() {
  return {{{2, 4, 5, 3}, {3, 3, 3, 4}, {.padding = "SAME"}},
          {{3, 14, 14, 8}, {3, 3, 8, 16}, {.padding = "SAME"}},
          {{5, 28, 28, 1}, {3, 3, 1, 32}, {.padding = "SAME"}},
          {{17, 15, 13, 16}, {3, 2, 16, 24}, {.strides = {2, 1}}},
          {{2, 16, 16, 8}, {3, 3, 8, 8}, {.padding = "SAME", .dilations = {2, 3}}},
          {{2, 17, 16, 8}, {3, 3, 8, 8}, {.strides = {2}, .padding = "SAME", .dilations = {2}}},
          {{2, 12, 12, 16}, {3, 3, 4, 32}, {.padding = "SAME"}},
          {{2, 12, 12, 16}, {3, 3, 1, 16}, {.padding = "SAME"}},
          {{2, 12, 12, 6}, {1, 1, 6, 10}, {.strides = {2}}},
          {{2, 9, 9, 8},
           {4, 4, 8, 8},
           {.strides = {3}, .padding = "EXPLICIT", .explicit_paddings = {0, 0, 2, 1, 0, 3, 0, 0}}}};
}

TEST(Convolution, AgreesWithTheDefinitionOnOneDnn) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.input.to_string() + " with " + c.filter.to_string());
    check(c);
  }
}

TEST(Convolution, AgreesWithTheDefinitionOnOurOwnLoops) {
  switch_onednn(false);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.input.to_string() + " with " + c.filter.to_string());
    check(c);
  }
  switch_onednn(true);
}

// Larger than what is unrolled at once: the pixels go by in several steps, the last one smaller.
TEST(Convolution, ManyStepsAgreeWithTheDefinition) {
  switch_onednn(false);
  check({{2, 65, 33, 16}, {3, 3, 16, 4}, {.padding = "SAME"}});
  check({{1, 65, 33, 32}, {3, 3, 16, 4}, {.padding = "SAME"}});  // two groups
  switch_onednn(true);
}

#if !CAPSTAN_POOLS_OFF
// All rows of this image at once would be 512 MiB.
TEST(Convolution, WorkingMemoryDoesNotGrowWithTheImage) {
  const Tensor input = zeros(Shape{1, 1024, 1024, 8}, DType::float64);
  const Tensor filter = ones(Shape{3, 3, 8, 1}, DType::float64);
  memory::trim();
  const std::uint64_t before = memory::statistics().bytes_from_system;
  const Tensor output = conv2d(input, filter, {.padding = "SAME"});
  EXPECT_LT(memory::statistics().bytes_from_system, before + (std::uint64_t{64} << 20));
}
#endif

TEST(Convolution, DepthwiseIsAConvolutionWithGroups) {
  const Tensor input = numbers({2, 9, 8, 6}, 1), filter = numbers({3, 3, 6, 2}, 2);
  const Tensor got = depthwise_conv2d(input, filter, {.padding = "SAME"});
  const Tensor expected = conv2d(input, reshape(filter, Shape{3, 3, 1, 12}), {.padding = "SAME"});
  EXPECT_EQ(got.to_vector<float>(), expected.to_vector<float>());
}

// Public report 82: the gradient of the filter was uninitialised for an empty batch.
TEST(Convolution, EmptyBatchHasZeroFilterGradient) {
  const Tensor input = zeros(Shape{0, 5, 5, 3}), filter = numbers({3, 3, 3, 8}, 1);
  GradientTape tape({.persistent = true});
  tape.watch(input);
  tape.watch(filter);
  const Tensor out = conv2d(input, filter, {.padding = "SAME"});
  EXPECT_EQ(out.shape(), (Shape{0, 5, 5, 8}));
  const Tensor df = tape.gradient(out, filter);
  EXPECT_EQ(df.shape(), filter.shape());
  for (float value : df.values<float>()) ASSERT_EQ(value, 0.f);
  EXPECT_EQ(tape.gradient(out, input).tensor().shape(), input.shape());
}

TEST(Convolution, TransposedTurnsShapesAround) {
  const Tensor input = numbers({2, 4, 4, 8}, 1), filter = numbers({3, 3, 5, 8}, 2);
  const Tensor out = conv2d_transpose(input, filter, Shape{2, 8, 8, 5}, {.strides = {2}, .padding = "SAME"});
  EXPECT_EQ(out.shape(), (Shape{2, 8, 8, 5}));
}

}  // namespace
}  // namespace capstan::cpu
