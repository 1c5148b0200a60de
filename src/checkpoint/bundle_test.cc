#include "checkpoint/bundle.h"

#include <cstdlib>

#include "capstan/base/error.h"
#include "capstan/checkpoint/bundle.h"
#include "checkpoint/coding.h"
#include "checkpoint/test_files.h"
#include "tensor/storage.h"
#include "wire/object_graph.h"

namespace capstan::checkpoint {
namespace {

class Bundle : public CheckpointTest {};

constexpr DType kPlainTypes[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16,  DType::int8,
                                 DType::int16,   DType::int32,   DType::int64,   DType::uint8,     DType::uint16,
                                 DType::uint32,  DType::uint64,  DType::boolean, DType::complex64, DType::complex128};

/// Any bits at all, NaN payloads included; a bool is 0 or 1.
Tensor patterned(DType dtype, const Shape& shape) {
  Tensor tensor = new_tensor(dtype, shape);
  auto* bytes = static_cast<unsigned char*>(mutable_data(tensor));
  const auto count = static_cast<std::size_t>(tensor.size()) * dtype_size(dtype);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>(dtype == DType::boolean ? i % 3 == 0 : 37 * i + 11);
  return tensor;
}

Tensor matrix_of(float value) { return constant(std::vector<float>(6, value), Shape{2, 3}); }

std::string bytes_of_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

TEST_F(Bundle, C170_KeysAreSortedAndDataKeepTheOrderOfAdding) {
  BundleWriter writer(path("b"));
  writer.add("foo_003", matrix_of(3));
  writer.add("foo_000", matrix_of(0));
  writer.add("foo_002", matrix_of(2));
  writer.add("foo_001", matrix_of(1));
  writer.finish();
  const BundleReader reader(path("b"));
  EXPECT_EQ(reader.keys(), (std::vector<std::string>{"foo_000", "foo_001", "foo_002", "foo_003"}));
  for (int i = 0; i < 4; ++i) expect_same(reader.read("foo_00" + std::to_string(i)), matrix_of(static_cast<float>(i)));
  float first;
  std::memcpy(&first, read_file(data_path(path("b"), 0, 1)).data(), sizeof first);
  EXPECT_EQ(first, 3.f);
}

TEST_F(Bundle, C171_GoldenIndexBytes) {
  write_bundle(path("b"), {{"a", constant(0.5f)}, {"b", constant(2.f)}, {"c", constant(3.f)}});
  const std::string expected = bytes_of_hex(
      "00000608011A020801"
      "00010B61080112002804350638271F"
      "00010D6208011200200428043510FD784F"
      "00010D630801120020082804"
      "35EFD682C3"
      "00000000010000000"
      "0E415B6BC"
      "000000000100000000C0F2A1B0"
      "0001026400420000000001000000"
      "0058B2E9F7"
      "4708540E" +
      std::string(72, '0') + "57FB808B247547DB");
  EXPECT_EQ(expected.size(), 151u);
  EXPECT_EQ(read_file(index_path(path("b"))), expected);
  EXPECT_EQ(read_file(data_path(path("b"), 0, 1)), bytes_of_hex("0000003F0000004000004040"));
}

TEST_F(Bundle, C172_EachTypeRoundTripsBitForBit) {
  std::map<std::string, Tensor> tensors{
      {"string", constant({{"hello", ""}, {"w\xff", "d"}})},
      {"long", constant({std::string(3 << 20, 'l'), std::string("short"), std::string(70000, 'm')})}};
  for (DType dtype : kPlainTypes) tensors.emplace(dtype_name(dtype), patterned(dtype, Shape{3, 5}));
  write_bundle(path("b"), tensors);
  const auto again = read_bundle(path("b"));
  ASSERT_EQ(again.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) expect_same(again.at(name), tensor, name);
}

TEST_F(Bundle, C172_VariantsAndResourcesAreRefused) {
  BundleWriter variants(path("v"));
  expect_contains(message_of<Unimplemented>([&] { variants.add("v", new_tensor(DType::variant, Shape{})); }),
                  "variant");
  BundleWriter resources(path("r"));
  expect_contains(message_of<TypeError>([&] { resources.add("r", new_tensor(DType::resource, Shape{})); }),
                  "a resource handle has no value to save");
  EXPECT_TRUE(list_directory(directory_).empty());
  auto entry = entry_for(DType::variant, Shape{}, "x");
  put_bundle(path("b"), plain_header(), entry, "x");
  expect_contains(message_of<Unimplemented>([&] { read_bundle(path("b")); }), "variant");
  entry.dtype = 11;  // a quantized type
  put_bundle(path("b"), plain_header(), entry, "x");
  expect_contains(message_of<Unimplemented>([&] { list(path("b")); }), "element type number 11");
  entry.dtype = 101;  // a reference
  put_bundle(path("b"), plain_header(), entry, "x");
  expect_contains(message_of<Unimplemented>([&] { list(path("b")); }), "element type number 101");
}

TEST_F(Bundle, C173_ShapesAreKept) {
  const std::map<std::string, Tensor> tensors{{"scalar", constant(7)},
                                              {"vector", constant({1, 2, 3})},
                                              {"none", new_tensor(DType::float32, Shape{0, 1618})},
                                              {"inner", new_tensor(DType::string, Shape{16, 0, 18})},
                                              {"deep", patterned(DType::int8, Shape{1, 2, 1, 2, 1, 2, 1, 2})}};
  write_bundle(path("b"), tensors);
  for (const auto& [name, tensor] : tensors) {
    expect_same(read_tensor(path("b"), name), tensor, name);
    EXPECT_EQ(list(path("b")).at(name).shape, tensor.shape());
  }
}

// Strings of 2^32 bytes are too heavy for a test: a stored varint of five bytes whose length is checked as eight.
TEST_F(Bundle, C175_LongLengthsEnterTheChecksumAsEightBytes) {
  std::string data;
  put_varint(data, 1ull << 32);
  const std::uint64_t length = 1ull << 32;
  put_fixed32(data, mask_crc(crc32c(0, std::as_bytes(std::span(&length, 1)))));
  put_bundle(path("b"), plain_header(), entry_for(DType::string, Shape{}, data), data);
  expect_contains(message_of<DataLoss>([&] { read_bundle(path("b")); }), "add up to more");
}

TEST_F(Bundle, StringBytes) {
  write_bundle(path("b"), {{"s", constant({"hello", "world"})}});
  EXPECT_EQ(read_file(data_path(path("b"), 0, 1)), bytes_of_hex("0505B56F994F68656C6C6F776F726C64"));
  expect_contains(read_file(index_path(path("b"))), bytes_of_hex("080712041202080228103"
                                                                 "51B4CD607"));
}

// The bytes as writers have always written them, made by hand: lengths, their checksum as 32-bit numbers, the text.
TEST_F(Bundle, C176_StringsByHand) {
  const std::string long_one(1024, 'c');
  const std::vector<std::string> strs{"hello", "", "x01", long_one};
  std::string lengths, words, text;
  for (const std::string& one : strs) {
    put_varint(lengths, one.size());
    put_fixed32(words, static_cast<std::uint32_t>(one.size()));
    text += one;
  }
  std::string lengths_crc;
  put_fixed32(lengths_crc, mask_crc(crc32c(words)));
  wire::BundleEntryProto entry = entry_for(DType::string, Shape{4}, lengths + lengths_crc + text);
  entry.crc32c = mask_crc(crc32c(words + lengths_crc + text));
  put_bundle(path("b"), plain_header(), entry, lengths + lengths_crc + text);
  EXPECT_EQ(read_tensor(path("b"), "t").to_vector<std::string>(), strs);
}

TEST_F(Bundle, C177_Alignment) {
  BundleWriter writer(path("b"), {.alignment = 42});
  std::map<std::string, Tensor> tensors;
  for (int i = 0; i < 5; ++i) tensors.emplace(std::to_string(i), patterned(DType::int8, Shape{40 + i}));
  tensors.emplace("s", constant({"a", "bc"}));
  for (const auto& [name, tensor] : tensors) writer.add(name, tensor);
  writer.finish();
  const BundleReader reader(path("b"));
  for (const auto& [name, tensor] : tensors) expect_same(reader.read(name), tensor, name);
  const ReadableFile index(index_path(path("b")));
  TableReader(index).scan([](std::string_view key, std::string_view value) {
    if (key.empty()) return;
    EXPECT_EQ(wire::decode_bundle_entry(value).offset % 42, 0) << key;
  });
  EXPECT_THROW(BundleWriter(path("b"), {.alignment = 0}), InvalidArgument);
}

TEST_F(Bundle, C178_ADuplicateKeyFailsTheWriter) {
  BundleWriter writer(path("b"));
  writer.add("k", constant(1));
  expect_contains(message_of<InvalidArgument>([&] { writer.add("k", constant(2)); }), "Adding duplicate key: k");
  expect_contains(message_of<InvalidArgument>([&] { writer.add("other", constant(2)); }), "Adding duplicate key: k");
  expect_contains(message_of<InvalidArgument>([&] { writer.finish(); }), "Adding duplicate key: k");
  EXPECT_TRUE(list_directory(directory_).empty());
}

TEST_F(Bundle, KeysThatCannotBeAreRefused) {
  EXPECT_THROW(write_bundle(path("b"), {{"", constant(1)}}), InvalidArgument);
  EXPECT_THROW(write_bundle(path("b"), {{std::string("\0a", 2), constant(1)}}), InvalidArgument);
  EXPECT_THROW(write_bundle("", {}), InvalidArgument);
}

TEST_F(Bundle, C179_FinishTwice) {
  BundleWriter writer(path("b"));
  writer.finish();
  expect_contains(message_of<Internal>([&] { writer.finish(); }), "BundleWriter is closed");
  EXPECT_TRUE(read_bundle(path("b")).empty());
}

TEST_F(Bundle, C181_APrefixThatIsNot) {
  expect_contains(message_of<NotFound>([&] { BundleReader reader(path("gone")); }), path("gone.index"));
  write_bundle(path("b"), {{"k", constant(1)}});
  expect_contains(message_of<NotFound>([&] { BundleReader reader(path("b.index")); }), "try '" + path("b") + "'");
  expect_contains(message_of<NotFound>([&] { BundleReader reader(path("b.data-00000-of-00001")); }),
                  "try '" + path("b") + "'");
}

TEST_F(Bundle, C182_TheHeaderAsWritten) {
  write_bundle(path("b"), {});
  const auto header = BundleReader(path("b")).header();
  EXPECT_EQ(header.num_shards, 1);
  EXPECT_EQ(header.endianness, wire::BundleHeaderProto::Endianness::little);
  EXPECT_EQ(header.version.producer, 1);
  EXPECT_EQ(header.version.min_consumer, 0);
}

std::string swapped_bytes(const Tensor& tensor) {
  std::string bytes(static_cast<const char*>(tensor.raw_data()),
                    static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype()));
  const std::size_t width = dtype_size(tensor.dtype()) / (is_complex(tensor.dtype()) ? 2 : 1);
  for (std::size_t at = 0; at < bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  return bytes;
}

TEST_F(Bundle, C183_TheOtherByteOrder) {
  auto header = plain_header();
  header.endianness = wire::BundleHeaderProto::Endianness::big;
  for (DType dtype : kPlainTypes) {
    const Tensor tensor = patterned(dtype, Shape{2, 3});
    const std::string data = swapped_bytes(tensor);
    put_bundle(path("b"), header, entry_for(dtype, Shape{2, 3}, data), data);
    expect_same(read_tensor(path("b"), "t"), tensor, dtype_name(dtype));
  }
  std::string data("\x05\x02", 2);
  const std::uint32_t crc = mask_crc(crc32c(std::string_view("\0\0\0\x05\0\0\0\x02", 8)));
  for (int shift : {24, 16, 8, 0}) data += static_cast<char>(crc >> shift);
  data += "helloyo";
  auto entry = entry_for(DType::string, Shape{2}, data);
  entry.crc32c = mask_crc(crc32c(std::string("\0\0\0\x05\0\0\0\x02", 8) + data.substr(2)));
  put_bundle(path("b"), header, entry, data);
  expect_same(read_tensor(path("b"), "t"), constant({"hello", "yo"}));
}

TEST_F(Bundle, C184_ContainsAndEntry) {
  write_bundle(path("b"), {{"k", matrix_of(1)}, {"l", constant("x")}});
  const BundleReader reader(path("b"));
  EXPECT_TRUE(reader.contains("k"));
  EXPECT_FALSE(reader.contains("kk"));
  EXPECT_FALSE(reader.contains(""));
  EXPECT_EQ(reader.entry("k"), (std::pair{DType::float32, Shape{2, 3}}));
  EXPECT_EQ(reader.entry("l"), (std::pair{DType::string, Shape{}}));
  expect_contains(message_of<NotFound>([&] { reader.read("m"); }), "Key m not found in checkpoint");
}

// Indexes written by merging, and more: models by others, in the folder that CAPSTAN_FIXTURES names.
TEST_F(Bundle, C188_RealModels) {
  const char* folder = std::getenv("CAPSTAN_FIXTURES");
  if (!folder) GTEST_SKIP() << "CAPSTAN_FIXTURES is not set";
  const auto snappy = read_bundle(join_path(folder, "serving_half_plus_two_cpu/variables/variables"));
  EXPECT_EQ(snappy.at("a").item<float>(), 0.5f);
  EXPECT_EQ(snappy.at("b").item<float>(), 2.f);
  EXPECT_EQ(snappy.at("c").item<float>(), 3.f);
  for (const char* name :
       {"basic_pitch_nmp", "rust_regression_savedmodel", "serving_counter", "serving_half_plus_two_tf2"})
    EXPECT_FALSE(read_bundle(join_path(folder, std::string(name) + "/variables/variables")).empty()) << name;
}

TEST_F(Bundle, C189_AnAbsentShardIsMissedOnlyByItsTensors) {
  for (const char* name : {"shards.index", "shards.data-00000-of-00002"}) put_file(path(name), read_file(golden(name)));
  const BundleReader reader(path("shards"));
  EXPECT_EQ(reader.keys().size(), 2u);
  expect_same(reader.read("tensor0"), constant({1.f, 1.f, 1.f}));
  expect_contains(message_of<NotFound>([&] { reader.read("tensor1"); }), path("shards.data-00001-of-00002"));
  put_file(path("shards.data-00001-of-00002"), read_file(golden("shards.data-00001-of-00002")));
  expect_same(reader.read("tensor1"), constant({2.f, 2.f, 2.f}));
}

TEST_F(Bundle, C190_AReaderKeepsWhatItOpened) {
  write_bundle(path("b"), {{"k", constant(1)}});
  const BundleReader first(path("b"));
  write_bundle(path("b"), {{"k", constant(2)}});
  const BundleReader second(path("b"));
  write_bundle(path("b"), {{"k", constant(3)}});
  EXPECT_EQ(first.read("k").item<int>(), 1);
  EXPECT_EQ(second.read("k").item<int>(), 2);
  EXPECT_EQ(read_tensor(path("b"), "k").item<int>(), 3);
}

TEST_F(Bundle, C022_MakesTheDirectory) {
  write_bundle(path("x/y/ckpt"), {{"k", constant(1)}});
  EXPECT_EQ(read_tensor(path("x/y/ckpt"), "k").item<int>(), 1);
}

TEST_F(Bundle, C025_RelativePrefixesAndSlashes) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  write_bundle("ck", {{"k", constant(1)}});
  write_bundle("sub/", {{"k", constant(2)}});
  EXPECT_EQ(read_tensor("ck", "k").item<int>(), 1);
  EXPECT_EQ(read_tensor("sub/", "k").item<int>(), 2);
  std::filesystem::current_path(here);
}

TEST_F(Bundle, ReadsWhatTensorFlowWrote) {
  const auto tensors = read_bundle(golden("types"));
  EXPECT_EQ(tensors.size(), 21u);
  for (DType dtype : kPlainTypes) {
    if (dtype == DType::boolean || is_complex(dtype)) continue;
    expect_same(tensors.at(std::string(dtype_name(dtype))), constant_as(constant({{0, 1, 2}, {3, 4, 5}}), dtype),
                dtype_name(dtype));
  }
  using Complex = std::complex<double>;
  EXPECT_EQ(tensors.at("complex128").values<Complex>()[5], Complex(5, -5));
  EXPECT_EQ(tensors.at("complex64").values<std::complex<float>>()[4], std::complex<float>(4, -4));
  expect_same(tensors.at("bool"), constant({{true, false, true}, {false, false, true}}));
  const auto strings = tensors.at("string").values<std::string>();
  EXPECT_EQ(strings[2], std::string("\0\xff", 2));
  EXPECT_EQ(strings[3], std::string(300, 'x'));
  EXPECT_EQ(tensors.at("string_scalar").item<std::string>(), "");
  EXPECT_EQ(tensors.at("empty").shape(), (Shape{16, 0, 18}));
  const auto special = tensors.at("special").values<float>();
  EXPECT_EQ(std::bit_cast<std::uint32_t>(special[0]), 0x7fc01234u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(special[1]), 0x80000000u);
  expect_same(tensors.at("deep/name.with.dots/.ATTRIBUTES/VARIABLE_VALUE"), constant({0, 1, 2, 3}));
}

// The same tensors in the same order give TensorFlow's files, byte for byte.
TEST_F(Bundle, WritesTheBytesThatTensorFlowWrote) {
  for (const char* name : {"types", "three"}) {
    const auto tensors = read_bundle(golden(name));
    BundleWriter writer(path(name));
    // The script adds them from the last name to the first.
    for (auto at = tensors.rbegin(); at != tensors.rend(); ++at) writer.add(at->first, at->second);
    writer.finish();
    for (const char* file : {".index", ".data-00000-of-00001"})
      EXPECT_EQ(read_file(path(name) + file), read_file(golden(name) + file)) << name << file;
  }
}

TEST_F(Bundle, ReadsObjectsThatTensorFlowWrote) {
  const BundleReader reader(golden("objects/ckpt-3"));
  EXPECT_TRUE(reader.contains("_CHECKPOINTABLE_OBJECT_GRAPH"));
  EXPECT_EQ(reader.read("save_counter/.ATTRIBUTES/VARIABLE_VALUE").item<std::int64_t>(), 3);
  expect_same(reader.read("dense/kernel/.ATTRIBUTES/VARIABLE_VALUE"), constant({{1.f, 2.f}, {3.f, 4.f}}));
  const std::string bytes = reader.read("_CHECKPOINTABLE_OBJECT_GRAPH").item<std::string>();
  const auto graph = wire::decode_object_graph(bytes);
  EXPECT_EQ(graph.nodes.front().children.size(), 3u);  // dense, step, save_counter
  EXPECT_EQ(wire::encode(graph), bytes);
}

}  // namespace
}  // namespace capstan::checkpoint
