#include "wire/bundle.h"

#include <fmt/format.h>

#include "wire/message.h"

namespace capstan::wire {
namespace {

TensorShapeProto::Dim decode_dim(std::string_view message) {
  TensorShapeProto::Dim dim;
  read_fields(message, "TensorShapeProto.Dim", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        dim.size = field.get_int64();
        break;
      case bytes(2):
        dim.name = text(field);
        break;
      default:
        field.skip();
    }
  });
  return dim;
}

TensorSliceProto::Extent decode_extent(std::string_view message) {
  TensorSliceProto::Extent extent;
  read_fields(message, "TensorSliceProto.Extent", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        extent.start = field.get_int64();
        break;
      case varint(2):
        extent.length = field.get_int64();
        break;
      default:
        field.skip();
    }
  });
  return extent;
}

std::string encode(const TensorShapeProto::Dim& dim) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, dim.size);
  put(writer, 2, dim.name);
  return out;
}

std::string encode(const TensorSliceProto::Extent& extent) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, extent.start);
  if (extent.length) writer.add_int64(2, *extent.length);
  return out;
}

}  // namespace

std::string encode(const VersionDef& message) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, message.producer);
  put(writer, 2, message.min_consumer);
  writer.add_packed_int32(3, message.bad_consumers.begin(), message.bad_consumers.end());
  return out;
}

std::string encode(const TensorShapeProto& message) {
  std::string out;
  pbf_writer writer(out);
  for (const auto& dim : message.dims) writer.add_message(2, encode(dim));
  put(writer, 3, message.unknown_rank);
  return out;
}

std::string encode(const TensorSliceProto& message) {
  std::string out;
  pbf_writer writer(out);
  for (const auto& extent : message.extents) writer.add_message(1, encode(extent));
  return out;
}

std::string encode(const BundleHeaderProto& message) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, message.num_shards);
  put(writer, 2, static_cast<std::int32_t>(message.endianness));
  writer.add_message(3, encode(message.version));
  return out;
}

std::string encode(const BundleEntryProto& message) {
  std::string out;
  pbf_writer writer(out);
  put(writer, 1, message.dtype);
  writer.add_message(2, encode(message.shape));
  put(writer, 3, message.shard_id);
  put(writer, 4, message.offset);
  put(writer, 5, message.size);
  if (message.crc32c) writer.add_fixed32(6, message.crc32c);
  for (const auto& slice : message.slices) writer.add_message(7, encode(slice));
  return out;
}

VersionDef decode_version(std::string_view message) {
  VersionDef version;
  read_fields(message, "VersionDef", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        version.producer = field.get_int32();
        break;
      case varint(2):
        version.min_consumer = field.get_int32();
        break;
      case varint(3):
        version.bad_consumers.push_back(field.get_int32());
        break;
      case bytes(3):
        read_packed(field, version.bad_consumers);
        break;
      default:
        field.skip();
    }
  });
  return version;
}

TensorShapeProto decode_shape(std::string_view message) {
  TensorShapeProto shape;
  read_fields(message, "TensorShapeProto", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case bytes(2):
        shape.dims.push_back(decode_dim(view(field)));
        break;
      case varint(3):
        shape.unknown_rank = field.get_bool();
        break;
      default:
        field.skip();
    }
  });
  return shape;
}

TensorSliceProto decode_slice(std::string_view message) {
  TensorSliceProto slice;
  read_fields(message, "TensorSliceProto", [&](pbf_reader& field) {
    if (field.tag_and_type() == bytes(1))
      slice.extents.push_back(decode_extent(view(field)));
    else
      field.skip();
  });
  return slice;
}

BundleHeaderProto decode_bundle_header(std::string_view message) {
  BundleHeaderProto header;
  read_fields(message, "BundleHeaderProto", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        header.num_shards = field.get_int32();
        break;
      case varint(2):
        header.endianness = static_cast<BundleHeaderProto::Endianness>(field.get_int32());
        break;
      case bytes(3):
        header.version = decode_version(view(field));
        break;
      default:
        field.skip();
    }
  });
  return header;
}

BundleEntryProto decode_bundle_entry(std::string_view message) {
  BundleEntryProto entry;
  read_fields(message, "BundleEntryProto", [&](pbf_reader& field) {
    switch (field.tag_and_type()) {
      case varint(1):
        entry.dtype = field.get_int32();
        break;
      case bytes(2):
        entry.shape = decode_shape(view(field));
        break;
      case varint(3):
        entry.shard_id = field.get_int32();
        break;
      case varint(4):
        entry.offset = field.get_int64();
        break;
      case varint(5):
        entry.size = field.get_int64();
        break;
      case fixed32(6):
        entry.crc32c = field.get_fixed32();
        break;
      case bytes(7):
        entry.slices.push_back(decode_slice(view(field)));
        break;
      default:
        field.skip();
    }
  });
  return entry;
}

TensorShapeProto to_proto(const Shape& shape) {
  TensorShapeProto proto;
  proto.unknown_rank = !shape.has_rank();
  for (std::int64_t size : shape.dims()) proto.dims.push_back({size, {}});
  return proto;
}

Shape to_shape(const TensorShapeProto& proto) {
  if (proto.unknown_rank) return Shape::unknown();
  if (proto.dims.size() > Shape::kMaxRank)
    throw DataLoss(fmt::format("a shape may have {} dimensions, got {}", Shape::kMaxRank, proto.dims.size()));
  Shape shape;
  for (const auto& dim : proto.dims) {
    if (dim.size < Shape::kUnknown) throw DataLoss(fmt::format("a dimension must not be negative, got {}", dim.size));
    shape.push_back(dim.size);
  }
  try {
    shape.num_elements();
  } catch (const InvalidArgument& error) {
    throw DataLoss(error.message());
  }
  return shape;
}

}  // namespace capstan::wire
