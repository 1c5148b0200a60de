// The numbers of the checkpoint format. What they mean is told in docs/checkpoint-format.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capstan::checkpoint {

// Sorted tables.
inline constexpr std::uint64_t kTableMagic = 0xdb4775248b80fb57;
inline constexpr std::size_t kFooterBytes = 48;
inline constexpr std::size_t kTrailerBytes = 5;  // after each block: compression type, masked checksum
inline constexpr std::size_t kBlockBytes = 262144;
inline constexpr int kRestartInterval = 16;
inline constexpr int kIndexRestartInterval = 1;
enum class Compression : unsigned char { none = 0, snappy = 1 };

// Tensor bundles.
inline constexpr int kBundleVersion = 1;
inline constexpr int kBundleMinProducer = 0;
inline constexpr int kBundleMinConsumer = 0;
inline constexpr char kSliceKeyMark = '\0';  // keys of slices begin so, names of tensors do not

}  // namespace capstan::checkpoint
