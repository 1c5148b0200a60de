#include "capstan/data/idx.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "base/test_errors.h"

namespace capstan::data {
namespace {

using namespace std::string_literals;

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes) & 0xff);
  return text;
}

std::string header(int code, std::vector<std::uint32_t> dims) {
  std::string text{0, 0, static_cast<char>(code), static_cast<char>(dims.size())};
  for (const std::uint32_t size : dims) text += big_endian(size, 4);
  return text;
}

std::string packed(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

class Idx : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "capstan-idx-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/array.idx";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  Tensor load(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return load_idx(path_);
  }
  /// Loading may fail with one of the two errors that damage has, or give `allowed`.
  void expect_error_or(const std::string& content, const std::vector<std::uint8_t>& allowed, std::size_t where) {
    try {
      const Tensor tensor = load(content);
      if (!allowed.empty()) {
        EXPECT_EQ(tensor.to_vector<std::uint8_t>(), allowed) << where;
      }
    } catch (const DataLoss& error) {
      expect_contains(error.what(), path_);
    } catch (const OutOfRange& error) {
      expect_contains(error.what(), path_);
    }
  }

  std::string directory_, path_;
};

TEST_F(Idx, ReadsEachElementType) {
  EXPECT_EQ(load(header(0x08, {3}) + "\x01\xff\x03"s).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{1, 255, 3}));
  EXPECT_EQ(load(header(0x09, {2}) + "\x01\xff"s).to_vector<std::int8_t>(), (std::vector<std::int8_t>{1, -1}));
  EXPECT_EQ(load(header(0x0b, {2}) + big_endian(258, 2) + big_endian(0xfffe, 2)).to_vector<std::int16_t>(),
            (std::vector<std::int16_t>{258, -2}));
  EXPECT_EQ(load(header(0x0c, {1, 2}) + big_endian(0x01020304, 4) + big_endian(~0ull, 4)).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{0x01020304, -1}));
  EXPECT_EQ(load(header(0x0d, {1}) + big_endian(0x40490fdb, 4)).item<float>(), 3.14159274f);
  EXPECT_EQ(load(header(0x0e, {1}) + big_endian(0xc005bf0a8b145769, 8)).item<double>(), -2.718281828459045);
}

TEST_F(Idx, ReadsShapes) {
  EXPECT_EQ(load(header(0x08, {2, 3}) + "abcdef").shape(), (Shape{2, 3}));
  EXPECT_EQ(load(header(0x08, {}) + "a").shape(), Shape{});
  EXPECT_EQ(load(header(0x08, {0, 7})).shape(), (Shape{0, 7}));
  EXPECT_EQ(load(header(0x08, {1, 1, 1, 1, 1, 1, 1, 2}) + "ab").rank(), 8);
}

TEST_F(Idx, ReadsGzip) {
  const std::string content = header(0x0b, {2, 50'000}) + std::string(200'000, '\1');
  const Tensor tensor = load(packed(content));
  EXPECT_EQ(tensor.shape(), (Shape{2, 50'000}));
  EXPECT_EQ(tensor.to_vector<std::int16_t>(), std::vector<std::int16_t>(100'000, 257));
  // Members that follow each other are one file.
  const Tensor parts = load(packed(content.substr(0, 11)) + packed("") + packed(content.substr(11)));
  EXPECT_EQ(parts.to_vector<std::int16_t>(), tensor.to_vector<std::int16_t>());
  EXPECT_EQ(load(packed(header(0x08, {0}))).size(), 0);
}

TEST_F(Idx, NamesTheMissingFile) {
  expect_contains(message_of<NotFound>([&] { load_idx(path_); }), path_);
}

TEST_F(Idx, RefusesOtherFiles) {
  expect_contains(message_of<DataLoss>([&] { load("\x93NUMPY and more"); }), "does not begin with two zero bytes");
  expect_contains(message_of<DataLoss>([&] { load(header(0x0a, {1}) + "a"); }),
                  "element type 10, which does not exist");
  expect_contains(message_of<DataLoss>([&] { load(header(0x08, {1}) + "ab"); }), "more bytes follow the 1 that");
  expect_contains(message_of<OutOfRange>([&] { load(""); }), "4 bytes of header are announced, 0 are there");
  EXPECT_THROW(load(packed(header(0x08, {1}) + "ab")), DataLoss);
  EXPECT_THROW(load(packed(header(0x08, {1}) + "a") + "rest"), DataLoss);
}

// A header may announce anything; nothing is allocated for what cannot be there.
TEST_F(Idx, DoesNotBelieveTheHeader) {
  const std::uint32_t most = 0xffffffff;
  expect_contains(message_of<OutOfRange>([&] { load(header(0x08, {most, 1000}) + "abc"); }), "shape [4294967295,1000]");
  expect_contains(message_of<OutOfRange>([&] { load(packed(header(0x0e, {most, 10}) + "abc")); }), "can be there");
  expect_contains(message_of<DataLoss>([&] { load(header(0x0e, {most, most}) + "abc"); }), "that no file can hold");
  expect_contains(message_of<DataLoss>([&] { load(header(0x08, {0, most, most, most})); }), "that no file can hold");
  expect_contains(message_of<DataLoss>([&] { load(header(0x08, std::vector<std::uint32_t>(255, 1)) + "a"); }),
                  "announces 255 axes");
  EXPECT_EQ(load(header(0x08, std::vector<std::uint32_t>(254, 1)) + "a").rank(), 254);
}

TEST_F(Idx, SurvivesTruncationAtEachByte) {
  const std::string plain = header(0x08, {5, 4}) + "abcdefghijklmnopqrst";
  const std::string gzip = packed(plain);
  for (const std::string& content : {plain, gzip})
    for (std::size_t length = 0; length < content.size(); ++length)
      EXPECT_THROW(
          {
            try {
              load(content.substr(0, length));
            } catch (const DataLoss& error) {  // what is left may look like another kind of file
              throw OutOfRange(error.what());
            }
          },
          OutOfRange)
          << length;
  EXPECT_THROW(load(gzip.substr(0, gzip.size() - 1)), OutOfRange);
}

// With gzip's checksum no flipped bit gives other elements; a plain file has no checksum, but no flip does harm.
TEST_F(Idx, SurvivesEachFlippedBit) {
  const std::string plain = header(0x08, {5, 4}) + "abcdefghijklmnopqrst";
  const std::string gzip = packed(plain);
  const std::vector<std::uint8_t> elements(plain.begin() + 12, plain.end());
  for (std::size_t bit = 0; bit < 8 * gzip.size(); ++bit) {
    std::string damaged = gzip;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_error_or(damaged, elements, bit);
  }
  for (std::size_t bit = 0; bit < 8 * plain.size(); ++bit) {
    std::string damaged = plain;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_error_or(damaged, {}, bit);
  }
}

}  // namespace
}  // namespace capstan::data
