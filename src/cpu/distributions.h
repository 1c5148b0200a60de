// From random words to numbers, as TensorFlow does it: the constants and the order decide the bits. Each distribution
// turns blocks of four words into a group of `kGroup` numbers.
#pragma once

#include <bit>
#include <cmath>
#include <numbers>

#include "capstan/tensor/dtype.h"
#include "cpu/philox.h"

namespace capstan::cpu {

// The words fill the mantissa of a number in [1, 2), from which 1 is taken.
inline float unit_float(std::uint32_t word) { return std::bit_cast<float>((word & 0x7fffffu) | 0x3f800000u) - 1.0f; }
inline double unit_double(std::uint32_t first, std::uint32_t second) {
  const std::uint64_t mantissa = std::uint64_t{first & 0xfffffu} << 32 | second;
  return std::bit_cast<double>(mantissa | std::uint64_t{1023} << 52) - 1.0;
}
inline float16 unit_half(std::uint32_t word) {
  float16 value;
  value.bits = static_cast<std::uint16_t>((word & 0x3ffu) | (15u << 10));
  return float16(static_cast<float>(value) - 1.0f);
}
inline bfloat16 unit_bfloat(std::uint32_t word) {
  bfloat16 value;
  value.bits = static_cast<std::uint16_t>((word & 0x7fu) | (127u << 7));
  return bfloat16(static_cast<float>(value) - 1.0f);
}

/// Two normal numbers from two uniform ones (Box and Muller, 1958).
template <class T>
std::array<T, 2> box_muller(T u, T v) {
  const T radius = std::sqrt(T(-2) * std::log(std::max(u, T(1e-7))));
  const auto angle = static_cast<T>(2 * std::numbers::pi * static_cast<double>(v));  // as TensorFlow rounds it
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline std::array<float, 2> normal_floats(std::uint32_t a, std::uint32_t b) {
  return box_muller(unit_float(a), unit_float(b));
}
inline std::array<double, 2> normal_doubles(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return box_muller(unit_double(a, b), unit_double(c, d));
}

template <class T>
struct Uniform {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  static void fill(Philox& philox, T* out) {
    const auto words = philox();
    if constexpr (std::is_same_v<T, double>) {
      out[0] = unit_double(words[0], words[1]);
      out[1] = unit_double(words[2], words[3]);
    } else {
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t word = words[static_cast<std::size_t>(i)];
        if constexpr (std::is_same_v<T, float>)
          out[i] = unit_float(word);
        else if constexpr (std::is_same_v<T, float16>)
          out[i] = unit_half(word);
        else
          out[i] = unit_bfloat(word);
      }
    }
  }
};

template <class T>
struct Normal {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  static void fill(Philox& philox, T* out) {
    const auto words = philox();
    if constexpr (std::is_same_v<T, double>) {
      const auto pair = normal_doubles(words[0], words[1], words[2], words[3]);
      out[0] = pair[0];
      out[1] = pair[1];
    } else {
      const auto first = normal_floats(words[0], words[1]), second = normal_floats(words[2], words[3]);
      out[0] = T(first[0]);
      out[1] = T(first[1]);
      out[2] = T(second[0]);
      out[3] = T(second[1]);
    }
  }
};

/// Normal numbers beyond two deviations are drawn again, so a group uses as many words as it needs; each group owns a
/// region of 256 words for each of its numbers.
template <class T>
struct TruncatedNormal {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  static constexpr std::uint64_t kBlocksPerGroup = kGroup * 256 / 4;
  static void fill(Philox& philox, T* out) {
    Philox::Block words{};
    std::size_t used = 4;
    const auto next = [&] {
      if (used == 4) {
        words = philox();
        used = 0;
      }
      return words[used++];
    };
    for (int made = 0;;) {
      if constexpr (std::is_same_v<T, double>) {
        const std::uint32_t a = next(), b = next(), c = next(), d = next();
        for (double value : normal_doubles(a, b, c, d))
          if (std::abs(value) < 2.0) {
            out[made++] = value;
            if (made == kGroup) return;
          }
      } else {
        const std::uint32_t a = next(), b = next();
        for (float value : normal_floats(a, b))
          if (std::abs(value) < 2.0f) {
            out[made++] = T(value);
            if (made == kGroup) return;
          }
      }
    }
  }
};

}  // namespace capstan::cpu
