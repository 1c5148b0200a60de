// Block sizes of the memory pool: multiples of 64 bytes, eight to each doubling, so that rounding a request up wastes
// at most an eighth of the block (64 bytes for the smallest).
#pragma once

#include <bit>
#include <cstddef>

namespace capstan::memory {

inline constexpr std::size_t kSmallestStep = 64;
inline constexpr int kLinearClasses = 8;  // 64, 128, ... 512; from there on eight to a doubling

constexpr int class_of(std::size_t bytes) noexcept {
  if (bytes <= kSmallestStep * kLinearClasses) return bytes ? static_cast<int>((bytes - 1) / kSmallestStep) : 0;
  const std::size_t last = bytes - 1;
  const int doubling = 63 - std::countl_zero(last);
  // The shifted number is 8 to 15: its leading bit counts for the first eight classes.
  return (doubling - 9) * 8 + static_cast<int>(last >> (doubling - 3));
}

constexpr std::size_t class_size(int index) noexcept {
  if (index < kLinearClasses) return static_cast<std::size_t>(index + 1) * kSmallestStep;
  const int doubling = (index - kLinearClasses) / 8 + 9;
  return static_cast<std::size_t>((index - kLinearClasses) % 8 + 9) << (doubling - 3);
}

inline constexpr std::size_t kSmallLimit = std::size_t{1} << 20;  // larger blocks are mapped one by one
inline constexpr std::size_t kSizeLimit = std::size_t{1} << 46;   // no machine has more
inline constexpr int kSmallClasses = class_of(kSmallLimit) + 1;
inline constexpr int kClasses = class_of(kSizeLimit) + 1;

}  // namespace capstan::memory
