// Damaged files: a typed error, or the unchanged content.
#include <limits>

#include "capstan/base/error.h"
#include "capstan/checkpoint/bundle.h"
#include "checkpoint/bundle.h"
#include "checkpoint/coding.h"
#include "checkpoint/test_files.h"

namespace capstan::checkpoint {
namespace {

class Damage : public CheckpointTest {
 protected:
  void SetUp() override {
    CheckpointTest::SetUp();
    good_ = {
        {"floats", constant({1.f, 2.f, 3.f})}, {"strings", constant({"hello", "", "you"})}, {"scalar", constant(7)}};
    write_bundle(path("b"), good_);
    index_ = read_file(index_path(path("b")));
    data_ = read_file(data_path(path("b"), 0, 1));
  }
  /// Reads all there is: the good content or an error.
  void expect_error_or_good(const std::string& what) {
    std::map<std::string, Tensor> found;
    try {
      found = read_bundle(path("b"));
    } catch (const Error&) {
      return;
    }
    ASSERT_EQ(found.size(), good_.size()) << what;
    for (const auto& [name, tensor] : good_) expect_same(found.at(name), tensor, what);
  }
  template <class E>
  std::string error_of_header(const wire::BundleHeaderProto& header) {
    put_bundle(path("b"), header, entry_for(DType::float32, Shape{}, "abcd"), "abcd");
    return message_of<E>([&] { BundleReader reader(path("b")); });
  }
  template <class E>
  std::string error_of_entry(const wire::BundleEntryProto& entry, std::string_view data) {
    put_bundle(path("b"), plain_header(), entry, data);
    return message_of<E>([&] { read_tensor(path("b"), "t"); });
  }

  std::map<std::string, Tensor> good_;
  std::string index_;
  std::string data_;
};

TEST_F(Damage, C191_AnyFlippedByteOfNumbers) {
  const std::string data(reinterpret_cast<const char*>(good_.at("floats").raw_data()), 12);
  const std::size_t place = data_.find(data);
  ASSERT_NE(place, std::string::npos);
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string bad = data_;
    bad[place + i] ^= 0x10;
    put_file(data_path(path("b"), 0, 1), bad);
    const std::string message = message_of<DataLoss>([&] { read_tensor(path("b"), "floats"); });
    expect_contains(message, "Checksum does not match");
    expect_contains(message, "b.data-00000-of-00001");
  }
}

TEST_F(Damage, C193_DataCutByOneByte) {
  put_file(data_path(path("b"), 0, 1), data_.substr(0, data_.size() - 1));
  const BundleReader reader(path("b"));
  expect_contains(message_of<OutOfRange>([&] { reader.read("strings"); }), "the file ends at");
  expect_same(reader.read("floats"), good_.at("floats"));
  expect_same(reader.read("scalar"), good_.at("scalar"));
}

TEST_F(Damage, C194_IndexCutAnywhere) {
  for (std::size_t length = 0; length < index_.size(); ++length) {
    put_file(index_path(path("b")), index_.substr(0, length));
    expect_contains(message_of<DataLoss>([&] { BundleReader reader(path("b")); }),
                    length < 48 ? "too short to be an sstable" : "bad magic number");
  }
}

TEST_F(Damage, DataCutAnywhere) {
  for (std::size_t length = 0; length < data_.size(); ++length) {
    put_file(data_path(path("b"), 0, 1), data_.substr(0, length));
    EXPECT_THROW(read_bundle(path("b")), OutOfRange) << length;
  }
}

TEST_F(Damage, C195_IndexWithAnyByteChanged) {
  for (std::size_t i = 0; i < index_.size(); ++i)
    for (int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string bad = index_;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      std::filesystem::remove(index_path(path("b")));
      put_file(index_path(path("b")), bad);
      expect_error_or_good("index byte " + std::to_string(i));
    }
}

TEST_F(Damage, DataWithAnyByteChanged) {
  for (std::size_t i = 0; i < data_.size(); ++i)
    for (int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string bad = data_;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      put_file(data_path(path("b"), 0, 1), bad);
      expect_error_or_good("data byte " + std::to_string(i));
      EXPECT_THROW(read_bundle(path("b")), DataLoss);
    }
}

// Bytes that no checksum protects, because whoever made them made the checksum too.
TEST_F(Damage, EntriesWithAnyByteChangedUnderARightChecksum) {
  const auto entry = entry_for(DType::string, Shape{2, 1}, std::string_view(data_).substr(0, 30));
  const std::string good = wire::encode(entry);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int flip = 1; flip < 256; flip = 2 * flip + 1) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      put_table(index_path(path("b")), {{"", wire::encode(plain_header())}, {"t", bad}});
      try {
        read_bundle(path("b"));
      } catch (const Error&) {
      }
    }
}

TEST_F(Damage, C199_AFormatThatIsTooNew) {
  auto header = plain_header();
  header.version.producer = 2;
  header.version.min_consumer = 2;
  expect_contains(error_of_header<InvalidArgument>(header),
                  "Checkpoint min consumer version 2 above current version 1");
}

TEST_F(Damage, C200_AProducerBelowAll) {
  auto header = plain_header();
  header.version.producer = -1;
  expect_contains(error_of_header<InvalidArgument>(header), "Checkpoint producer version -1 below min producer 0");
}

TEST_F(Damage, C201_ABannedConsumer) {
  auto header = plain_header();
  header.version.bad_consumers = {1};
  const std::string message = error_of_header<InvalidArgument>(header);
  expect_contains(message, "Checkpoint disallows consumer version 1.");
  expect_contains(message, "Please upgrade TensorFlow: this version is likely buggy.");
}

TEST_F(Damage, HeadersThatAreNone) {
  put_table(index_path(path("b")), {});
  expect_contains(message_of<DataLoss>([&] { list(path("b")); }), "failed to seek to header entry");
  put_table(index_path(path("b")), {{"t", wire::encode(entry_for(DType::float32, Shape{}, ""))}});
  expect_contains(message_of<DataLoss>([&] { list(path("b")); }), "Perhaps the file is corrupt");
  put_table(index_path(path("b")), {{"", "\x0a"}});
  expect_contains(message_of<DataLoss>([&] { list(path("b")); }), "unable to parse header");
  auto header = plain_header();
  header.num_shards = -1;
  expect_contains(error_of_header<DataLoss>(header), "-1 shards");
  header = plain_header();
  header.endianness = static_cast<wire::BundleHeaderProto::Endianness>(2);
  expect_contains(error_of_header<DataLoss>(header), "no byte order 2");
}

TEST_F(Damage, C202_SizesThatDoNotFit) {
  auto entry = entry_for(DType::float32, Shape{2}, "abcd");
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"),
                  "Invalid size in bundle entry: key t; stored size 4 at 0; expected size 8");
  entry.size = -8;
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"), "Invalid size in bundle entry");
  entry.size = 8;
  entry.offset = -1;
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"), "Invalid size in bundle entry");
  entry.offset = std::numeric_limits<std::int64_t>::max();
  expect_contains(error_of_entry<OutOfRange>(entry, "abcd"), "the file ends at 4");
}

TEST_F(Damage, C203_ShapesThatAreNone) {
  auto entry = entry_for(DType::float32, Shape{}, "abcd");
  entry.shape.dims = {{-5, ""}};
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"), "Invalid tensor shape: t");
  entry.shape.dims = {{1ll << 40, ""}, {1ll << 40, ""}};
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"), "Invalid tensor shape: t");
  entry.shape.dims = {{-1, ""}};
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"), "Invalid tensor shape: t");
  entry.shape = {{}, true};
  expect_contains(error_of_entry<DataLoss>(entry, "abcd"), "Invalid tensor shape: t");
}

TEST_F(Damage, EntriesThatAreNone) {
  put_table(index_path(path("b")), {{"", wire::encode(plain_header())}, {"t", "\x0a"}});
  expect_contains(message_of<DataLoss>([&] { list(path("b")); }), "Entry for key t not parseable");
}

TEST_F(Damage, C205_StringLengthsPastTheEntry) {
  // The lengths' checksum is right, their sum is not.
  std::string data("\x05\xff\x7f", 3);
  const std::uint32_t lengths[] = {5, 0x3fff};
  put_fixed32(data, mask_crc(crc32c(0, std::as_bytes(std::span(lengths)))));
  data += "hello";
  expect_contains(error_of_entry<DataLoss>(entry_for(DType::string, Shape{2}, data), data), "Checksum does not match");
  // The varints themselves run past the end.
  expect_contains(error_of_entry<DataLoss>(entry_for(DType::string, Shape{3}, "\xff\xff\xff\xff"), "\xff\xff\xff\xff"),
                  "String lengths longer than expected offset");
  expect_contains(error_of_entry<DataLoss>(entry_for(DType::string, Shape{3}, "\1\1\1\1"), "\1\1\1\1"),
                  "String lengths longer than expected offset");
  // Less than one byte for each.
  expect_contains(error_of_entry<DataLoss>(entry_for(DType::string, Shape{1 << 30}, "abcd"), "abcd"),
                  "expected size is at least 1073741824");
}

TEST_F(Damage, StringChecksums) {
  const std::string data =
      "\x02"
      "abcdhi";
  expect_contains(error_of_entry<DataLoss>(entry_for(DType::string, Shape{}, data), data),
                  "The length checksum does not match");
}

TEST_F(Damage, C206_AHugeSize) {
  auto entry = entry_for(DType::int8, Shape{1ll << 60}, "abcd");
  entry.size = 1ll << 60;
  expect_contains(error_of_entry<OutOfRange>(entry, "abcd"), "the file ends at 4");
}

TEST_F(Damage, C209_AnEmptyIndex) {
  put_file(index_path(path("b")), "");
  EXPECT_THROW(list(path("b")), DataLoss);
}

TEST_F(Damage, ShardsThatAreNone) {
  auto entry = entry_for(DType::float32, Shape{}, "abcd");
  entry.shard_id = 5;
  expect_contains(error_of_entry<NotFound>(entry, "abcd"), path("b.data-00005-of-00001"));
}

TEST_F(Damage, TensorsThatShareBytesAreNotAllRead) {
  const std::string data(40, 'x');
  const auto entry = wire::encode(entry_for(DType::uint8, Shape{40}, data));
  put_table(index_path(path("b")), {{"", wire::encode(plain_header())}, {"t", entry}, {"u", entry}});
  put_file(data_path(path("b"), 0, 1), data);
  expect_contains(message_of<DataLoss>([&] { read_bundle(path("b")); }), "some of them overlap");
  EXPECT_EQ(read_tensor(path("b"), "u").size(), 40);
}

TEST_F(Damage, ABundleOfManyShardsTakesFewDescriptors) {
  constexpr int kShards = 200;
  wire::BundleHeaderProto header = plain_header();
  header.num_shards = kShards;
  std::map<std::string, std::string> records{{"", wire::encode(header)}};
  for (int i = 0; i < kShards; ++i) {
    const std::string data(1, static_cast<char>(i));
    wire::BundleEntryProto entry = entry_for(DType::uint8, Shape{1}, data);
    entry.shard_id = i;
    records["t" + std::to_string(i)] = wire::encode(entry);
    put_file(data_path(path("b"), i, kShards), data);
  }
  put_table(index_path(path("b")), records);
  const auto descriptors = [] { return list_directory("/proc/self/fd").size(); };
  const std::size_t before = descriptors();
  const BundleReader reader(path("b"));
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < kShards; ++i)
      EXPECT_EQ(reader.read("t" + std::to_string(i)).item<std::uint8_t>(), static_cast<std::uint8_t>(i));
  EXPECT_LE(descriptors(), before + 64);
}

TEST_F(Damage, ABoolIsZeroOrOneInMemory) {
  const std::string data("\0\1\2\xff", 4);
  put_bundle(path("b"), plain_header(), entry_for(DType::boolean, Shape{4}, data), data);
  expect_same(read_tensor(path("b"), "t"), constant({false, true, true, true}));
}

}  // namespace
}  // namespace capstan::checkpoint
