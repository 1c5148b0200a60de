#include "wire/bundle.h"

#include <gtest/gtest.h>

#include <limits>

#include "capstan/base/error.h"

namespace capstan::wire {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  std::string digits;
  for (char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    out += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return out;
}

BundleEntryProto partitioned_entry() {
  BundleEntryProto entry;
  entry.dtype = 1;
  entry.shape = to_proto(Shape{16, 0, 1618});
  entry.shard_id = 3;
  entry.offset = 1ll << 40;
  entry.size = 77;
  entry.crc32c = 0xdeadbeef;
  entry.slices = {{{{0, 5}, {0, std::nullopt}}}, {{{5, 0}, {7, 1ll << 35}}}};
  return entry;
}

TEST(BundleMessages, HeaderBytes) {
  BundleHeaderProto header;
  header.num_shards = 1;
  header.version.producer = 1;
  EXPECT_EQ(encode(header), from_hex("08 01 1A 02 08 01"));
  header.num_shards = 2;
  EXPECT_EQ(encode(header), from_hex("08 02 1A 02 08 01"));
}

TEST(BundleMessages, EntryBytes) {
  BundleEntryProto entry;
  entry.dtype = 1;
  entry.offset = 4;
  entry.size = 4;
  entry.crc32c = 0x4f78fd10;
  EXPECT_EQ(encode(entry), from_hex("08 01 12 00 20 04 28 04 35 10 FD 78 4F"));
}

TEST(BundleMessages, EntryRoundTrips) {
  const auto entry = partitioned_entry();
  const auto again = decode_bundle_entry(encode(entry));
  EXPECT_EQ(encode(again), encode(entry));
  EXPECT_EQ(again.slices, entry.slices);
  EXPECT_EQ(to_shape(again.shape), (Shape{16, 0, 1618}));
  EXPECT_EQ(again.offset, 1ll << 40);
}

TEST(BundleMessages, BadConsumersPackedAndUnpacked) {
  EXPECT_EQ(decode_version(from_hex("1A 02 01 07")).bad_consumers, (std::vector{1, 7}));
  EXPECT_EQ(decode_version(from_hex("18 01 18 07")).bad_consumers, (std::vector{1, 7}));
  EXPECT_EQ(decode_version(from_hex("08 FF FF FF FF FF FF FF FF FF 01")).producer, -1);
  VersionDef version;
  version.bad_consumers = {1, 7};
  EXPECT_EQ(encode(version), from_hex("1A 02 01 07"));
}

TEST(BundleMessages, UnknownFieldsAndLayoutsAreSkipped) {
  EXPECT_EQ(decode_bundle_entry(from_hex("7A 02 41 42 08 03 0A 01 00")).dtype, 3);
}

TEST(BundleMessages, TruncatedBytesAreDataLossOrAShorterMessage) {
  const std::string whole = encode(partitioned_entry());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    try {
      decode_bundle_entry(std::string_view(whole).substr(0, length));
    } catch (const DataLoss&) {
    }
  }
}

TEST(BundleMessages, FlippedBytesAreDataLossOrAMessage) {
  const std::string whole = encode(partitioned_entry());
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (int flip = 1; flip < 256; ++flip) {
      std::string bad = whole;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      try {
        to_shape(decode_bundle_entry(bad).shape);
      } catch (const DataLoss&) {
      }
    }
}

TEST(BundleMessages, DamageIsNamed) {
  try {
    decode_bundle_header(from_hex("1A 7F 08 01"));
    FAIL();
  } catch (const DataLoss& error) {
    EXPECT_NE(error.message().find("BundleHeaderProto"), std::string::npos);
  }
}

TEST(BundleMessages, ShapesAreChecked) {
  EXPECT_EQ(to_shape({{{2, "rows"}, {-1, ""}}, false}), (Shape{2, -1}));
  EXPECT_FALSE(to_shape({{}, true}).has_rank());
  EXPECT_THROW(to_shape({{{-2, ""}}, false}), DataLoss);
  EXPECT_THROW(to_shape({{{1ll << 62, ""}, {4, ""}}, false}), DataLoss);
  EXPECT_THROW(to_shape({{{std::numeric_limits<std::int64_t>::min(), ""}}, false}), DataLoss);
  EXPECT_THROW(to_shape({std::vector<TensorShapeProto::Dim>(255, {1, ""}), false}), DataLoss);
}

}  // namespace
}  // namespace capstan::wire
