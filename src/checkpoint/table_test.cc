#include "checkpoint/table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "base/crc32c.h"
#include "capstan/base/error.h"
#include "checkpoint/coding.h"
#include "checkpoint/snappy.h"

namespace capstan::checkpoint {
namespace {

using Pairs = std::map<std::string, std::string>;

class Table : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "capstan-table-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/table";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const Pairs& pairs) {
    TemporaryFile file(path_);
    TableWriter writer(file);
    for (const auto& [key, value] : pairs) writer.add(key, value);
    writer.finish();
    file.sync();
    file.publish(path_);
  }
  Pairs read() {
    Pairs pairs;
    const ReadableFile file(path_);
    TableReader(file).scan([&](std::string_view key, std::string_view value) { pairs.emplace(key, value); });
    return pairs;
  }
  /// Reads `bytes` as a table; the error's message, or "" if there is none.
  template <class E>
  std::string error_of(const std::string& bytes) {
    replace_file(path_, bytes);
    try {
      read();
    } catch (const E& error) {
      return error.what();
    }
    return "";
  }

  std::string directory_;
  std::string path_;
};

TEST_F(Table, KeepsManyPairsOverManyBlocks) {
  Pairs pairs;
  for (int i = 0; i < 20000; ++i) pairs["key/" + std::to_string(i * 7919 % 20000)] = std::string(i % 90, 'v');
  write(pairs);
  EXPECT_GT(std::filesystem::file_size(path_), 3 * kBlockBytes);
  EXPECT_EQ(read(), pairs);
}

TEST_F(Table, AnEmptyTableHasNoPairs) {
  write({});
  EXPECT_TRUE(read().empty());
}

TEST_F(Table, KeysAreComparedAsUnsignedBytes) {
  const Pairs pairs{{"", "h"},        {std::string("\0s", 2), "0"}, {"a", "1"}, {"\x80", "2"}, {"\xff", "3"},
                    {"\xff\xff", "4"}};
  write(pairs);
  EXPECT_EQ(read(), pairs);
}

TEST_F(Table, RefusesKeysOutOfOrder) {
  TemporaryFile file(path_);
  TableWriter writer(file);
  writer.add("b", "");
  EXPECT_THROW(writer.add("b", ""), InvalidArgument);
  EXPECT_THROW(writer.add("a", ""), InvalidArgument);
}

TEST_F(Table, Separators) {
  EXPECT_EQ(shortest_separator("abcdef", "abzz"), "abd");
  EXPECT_EQ(shortest_separator("abc", "abd"), "abc");
  EXPECT_EQ(shortest_separator("ab", "abc"), "ab");
  EXPECT_EQ(shortest_separator("a\xff", "b"), "a\xff");
  EXPECT_EQ(short_successor("c"), "d");
  EXPECT_EQ(short_successor("\xff\xff"
                            "az"),
            "\xff\xff"
            "b");
  EXPECT_EQ(short_successor("\xff"), "\xff");
  EXPECT_EQ(short_successor(""), "");
}

TEST_F(Table, C187_AGiantEntryBeginsItsOwnBlock) {
  write({{"a", "small"}, {"b", std::string(2 * kBlockBytes, 'g')}, {"c", "small"}});
  const std::string bytes = read_file(path_);
  // The first block: one entry of 3 + 1 + 5 bytes, one restart, the count; its trailer; then the giant's entry.
  const std::size_t second = 9 + 8 + kTrailerBytes;
  EXPECT_EQ(bytes.substr(second, 6), std::string("\x00\x01\x80\x80\x20"
                                                 "b",
                                                 6));
  EXPECT_EQ(read().at("b").size(), 2 * kBlockBytes);
}

TEST_F(Table, C194_TooShortOrWithoutMagic) {
  write({{"a", "1"}});
  const std::string bytes = read_file(path_);
  for (std::size_t length = 0; length < kFooterBytes; ++length)
    EXPECT_NE(error_of<DataLoss>(bytes.substr(0, length)).find("too short to be an sstable"), std::string::npos);
  for (std::size_t length = kFooterBytes; length < bytes.size(); ++length)
    EXPECT_NE(error_of<DataLoss>(bytes.substr(0, length)).find("not an sstable (bad magic number)"), std::string::npos);
}

TEST_F(Table, C209_AnEmptyFile) { EXPECT_NE(error_of<DataLoss>(""), ""); }

TEST_F(Table, C195_AFlippedByteInABlock) {
  write({{"a", "1"}, {"b", "2"}});
  std::string bytes = read_file(path_);
  bytes[4] ^= 1;
  EXPECT_NE(error_of<DataLoss>(bytes).find("block checksum mismatch"), std::string::npos);
}

/// A table of one block of pairs, with the given compression byte and stored bytes.
std::string table_of_block(std::string stored, char compression) {
  const auto finish = [](std::string block, char type) {
    block += type;
    put_fixed32(block, mask_crc(crc32c(block)));
    return block;
  };
  std::string file = finish(stored, compression);
  const std::size_t metaindex = file.size();
  file += finish(std::string("\0\0\0\0\1\0\0\0", 8), 0);
  std::string index = std::string("\0\1", 2);
  std::string handle;
  put_varint(handle, 0);
  put_varint(handle, stored.size());
  put_varint(index, handle.size());
  index += "z" + handle + std::string("\0\0\0\0\1\0\0\0", 8);
  const std::size_t index_at = file.size();
  file += finish(index, 0);
  std::string footer;
  for (std::size_t number : {metaindex, std::size_t{8}, index_at, index.size()}) put_varint(footer, number);
  footer.resize(40);
  return file + footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb");
}

std::string block_of(std::string entries) { return entries + std::string("\0\0\0\0\1\0\0\0", 8); }

TEST_F(Table, C196_AnUnknownCompression) {
  EXPECT_NE(error_of<DataLoss>(table_of_block(block_of({}), 7)).find("bad block type 7"), std::string::npos);
}

TEST_F(Table, C197_AHandleBeyondTheFile) {
  write({{"a", "1"}});
  std::string bytes = read_file(path_);
  bytes[bytes.size() - kFooterBytes + 3] = 0x7f;  // the size of the index block
  EXPECT_NE(error_of<OutOfRange>(bytes).find("Read less bytes than requested"), std::string::npos);
}

TEST_F(Table, BadBlocksAreNamed) {
  EXPECT_EQ(error_of<DataLoss>(table_of_block(block_of(std::string("\0\1\1av", 5)), 0)), "");
  EXPECT_NE(error_of<DataLoss>(table_of_block("", 0)).find("bad block contents"), std::string::npos);
  EXPECT_NE(error_of<DataLoss>(table_of_block("\xff\xff\xff\xff", 0)).find("bad block contents"), std::string::npos);
  EXPECT_NE(error_of<DataLoss>(table_of_block(block_of(std::string("\1\1\1av", 5)), 0)).find("bad entry in block"),
            std::string::npos);
  EXPECT_NE(error_of<DataLoss>(table_of_block(block_of(std::string("\0\1\2av", 5)), 0)).find("bad entry in block"),
            std::string::npos);
  EXPECT_NE(error_of<DataLoss>(table_of_block(block_of(std::string("\0\1\0b\0\1\0a", 8)), 0)).find("do not ascend"),
            std::string::npos);
}

TEST_F(Table, C188_SnappyBlocks) {
  // One entry, k -> ababababab, whose end is an overlapping copy.
  std::string stored;
  put_varint(stored, 3 + 1 + 10 + 8);
  stored += std::string(
      "\x1c\x00\x01\x0a"
      "kabab",
      9);                                // literal of 8: the header, the key, "abab"
  stored += std::string("\x09\x02", 2);  // copy of 6 from 2 bytes back
  stored += std::string("\x1c\0\0\0\0\1\0\0\0", 9);
  replace_file(path_, table_of_block(stored, 1));
  EXPECT_EQ(read(), (Pairs{{"k", "ababababab"}}));
}

TEST(Snappy, AllElementKinds) {
  EXPECT_EQ(snappy_decompress(std::string("\0", 1)), "");
  const std::string literal(100, 'x');
  EXPECT_EQ(snappy_decompress("\x64\xf0\x63" + literal), literal);
  EXPECT_EQ(snappy_decompress(std::string("\x64\xf4\x63\0", 4) + literal), literal);
  EXPECT_EQ(snappy_decompress(std::string("\x0a\x00"
                                          "a\x22\x01\0",
                                          6)),
            std::string(10, 'a'));
  EXPECT_EQ(snappy_decompress(std::string("\x0a\x00"
                                          "a\x23\x01\0\0\0",
                                          8)),
            std::string(10, 'a'));
}

TEST(Snappy, DamageIsDataLoss) {
  EXPECT_THROW(snappy_decompress(""), DataLoss);
  EXPECT_THROW(snappy_decompress("\xff\xff\xff\xff\x0f\x00"
                                 "a"),
               DataLoss);  // a length out of all proportion
  EXPECT_THROW(snappy_decompress(std::string("\x02\x00"
                                             "a",
                                             3)),
               DataLoss);  // too short
  EXPECT_THROW(snappy_decompress(std::string("\x01\x04"
                                             "ab",
                                             4)),
               DataLoss);  // too long
  EXPECT_THROW(snappy_decompress(std::string("\x0a\x00"
                                             "a\x22\x02\0",
                                             6)),
               DataLoss);  // a copy from before the start
  EXPECT_THROW(snappy_decompress(std::string("\x0a\x00"
                                             "a\x22\0\0",
                                             6)),
               DataLoss);
  EXPECT_THROW(snappy_decompress(std::string("\x0a\x00"
                                             "a\x22",
                                             4)),
               DataLoss);
  EXPECT_THROW(snappy_decompress(std::string("\x0a\xfc\xff\xff\xff\xff"
                                             "a",
                                             7)),
               DataLoss);
}

}  // namespace
}  // namespace capstan::checkpoint
