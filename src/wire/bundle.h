// The messages of a tensor bundle's index, and those they consist of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capstan/tensor/shape.h"

namespace capstan::wire {

struct VersionDef {
  std::int32_t producer = 0;
  std::int32_t min_consumer = 0;
  std::vector<std::int32_t> bad_consumers;
};

struct TensorShapeProto {
  struct Dim {
    std::int64_t size = 0;
    std::string name;
  };
  std::vector<Dim> dims;
  bool unknown_rank = false;
};

/// A box in a tensor: one extent per dimension; without a length it is the whole dimension.
struct TensorSliceProto {
  struct Extent {
    std::int64_t start = 0;
    std::optional<std::int64_t> length;
    bool operator==(const Extent&) const = default;
  };
  std::vector<Extent> extents;
  bool operator==(const TensorSliceProto&) const = default;
};

struct BundleHeaderProto {
  enum class Endianness : std::int32_t { little = 0, big = 1 };
  std::int32_t num_shards = 0;
  Endianness endianness = Endianness::little;
  VersionDef version;
};

struct BundleEntryProto {
  std::int32_t dtype = 0;  // TensorFlow's number; it may be of a type that this library does not have
  TensorShapeProto shape;
  std::int32_t shard_id = 0;
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::uint32_t crc32c = 0;  // masked
  std::vector<TensorSliceProto> slices;
};

std::string encode(const VersionDef& message);
std::string encode(const TensorShapeProto& message);
std::string encode(const TensorSliceProto& message);
std::string encode(const BundleHeaderProto& message);
std::string encode(const BundleEntryProto& message);

/// Throw DataLoss for anything that is not such a message.
VersionDef decode_version(std::string_view bytes);
TensorShapeProto decode_shape(std::string_view bytes);
TensorSliceProto decode_slice(std::string_view bytes);
BundleHeaderProto decode_bundle_header(std::string_view bytes);
BundleEntryProto decode_bundle_entry(std::string_view bytes);

TensorShapeProto to_proto(const Shape& shape);
/// Throws DataLoss for a dimension below -1, too many dimensions, or more elements than can be counted.
Shape to_shape(const TensorShapeProto& proto);

}  // namespace capstan::wire
