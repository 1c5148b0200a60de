// Reading and writing the fields of one message: the only place that knows protozero.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "capstan/base/error.h"

namespace capstan::wire {

using protozero::pbf_reader;
using protozero::pbf_writer;

/// A field's number together with how its bytes are laid out. A known number in another layout counts as unknown, as
/// protobuf has it.
constexpr std::uint32_t varint(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}
constexpr std::uint32_t fixed32(std::uint32_t number) {
  return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed32);
}

/// Calls `field(reader)` for each field; it takes the value or calls `reader.skip()`.
template <class Field>
void read_fields(std::string_view message, std::string_view message_name, Field&& field) {
  try {
    pbf_reader reader(message.data(), message.size());
    while (reader.next()) field(reader);
  } catch (const protozero::exception& error) {
    throw DataLoss(std::string(message_name) + ": the bytes are no such message (" + error.what() + ")");
  }
}

inline std::string_view view(pbf_reader& reader) {
  const auto data = reader.get_view();
  return {data.data(), data.size()};
}
inline std::string text(pbf_reader& reader) { return std::string(view(reader)); }

inline void read_packed(pbf_reader& reader, std::vector<std::int32_t>& values) {
  for (std::int32_t value : reader.get_packed_int32()) values.push_back(value);
}

/// proto3 leaves out what has the default value.
inline void put(pbf_writer& writer, std::uint32_t number, std::int32_t value) {
  if (value) writer.add_int32(number, value);
}
inline void put(pbf_writer& writer, std::uint32_t number, std::int64_t value) {
  if (value) writer.add_int64(number, value);
}
inline void put(pbf_writer& writer, std::uint32_t number, bool value) {
  if (value) writer.add_bool(number, true);
}
inline void put(pbf_writer& writer, std::uint32_t number, const std::string& value) {
  if (!value.empty()) writer.add_string(number, value);
}

}  // namespace capstan::wire
