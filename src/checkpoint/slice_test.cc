#include "checkpoint/slice.h"

#include "capstan/base/error.h"
#include "checkpoint/bundle.h"
#include "checkpoint/test_files.h"
#include "tensor/storage.h"

namespace capstan::checkpoint {
namespace {

using Extent = wire::TensorSliceProto::Extent;

wire::TensorSliceProto slice(std::vector<Extent> extents) { return {std::move(extents)}; }
const Extent kAll{};

std::string hex(std::string_view bytes) {
  std::string out;
  for (unsigned char byte : bytes) {
    out += "0123456789ABCDEF"[byte >> 4];
    out += "0123456789ABCDEF"[byte & 15];
  }
  return out;
}

std::string number_bytes(std::int64_t value) { return hex(slice_key("", slice({{value, 0}}))).substr(10); }

Tensor counted(DType dtype, const Shape& shape) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
  return constant_as(constant(values, shape), dtype);
}

Tensor cut(const Tensor& tensor, const wire::TensorSliceProto& part) {
  const Region region = region_of(part, tensor.shape());
  Tensor out = new_tensor(tensor.dtype(), region.shape());
  copy_region(region, tensor, whole_of(tensor.shape()), out, region);
  return out;
}

class Slices : public CheckpointTest {
 protected:
  void write_parts(const Tensor& whole, const std::vector<wire::TensorSliceProto>& parts) {
    BundleWriter writer(path("b"));
    for (const auto& part : parts) writer.add_slice("v", whole.shape(), part, cut(whole, part));
    writer.finish();
  }
};

TEST_F(Slices, C229_KeyBytes) {
  EXPECT_EQ(hex(slice_key("a", slice({}))), "0061000100");
  EXPECT_EQ(hex(slice_key("my_var", slice({{0, 5}, kAll}))), "006D795F766172000101028085807F");
  EXPECT_EQ(hex(slice_key("v", slice({{0, 64}, {300, 1000}}))),
            "0076000101"
            "0280C040C12CC3E8");
  EXPECT_EQ(hex(slice_key(std::string("\0\xff", 2), slice({}))),
            "00"
            "00FF"
            "FF00"
            "0001"
            "00");
}

TEST_F(Slices, OrderedNumbers) {
  EXPECT_EQ(number_bytes(63), "BF80");
  EXPECT_EQ(number_bytes(8191), "DFFF80");
  EXPECT_EQ(number_bytes(8192), "E0200080");
  EXPECT_EQ(number_bytes(70000), "E1117080");
  EXPECT_EQ(number_bytes(-1), "7F80");
  EXPECT_EQ(number_bytes(-64), "4080");
  EXPECT_EQ(number_bytes(-65), "3FBF80");
  EXPECT_EQ(number_bytes(std::numeric_limits<std::int64_t>::max()), "FFC07FFFFFFFFFFFFFFF80");
  EXPECT_EQ(number_bytes(std::numeric_limits<std::int64_t>::min()), "003F800000000000000080");
  EXPECT_EQ(number_bytes((1ll << 55) - 1), "FF7FFFFFFFFFFFFF80");
  EXPECT_EQ(number_bytes(1ll << 55),
            "FF8080000000000000"
            "80");
}

TEST_F(Slices, C226_TwoPartsAndOtherCuts) {
  BundleWriter writer(path("b"));
  writer.add_slice("v", Shape{5, 10}, slice({kAll, {0, 1}}), constant(std::vector<float>(5, 0), Shape{5, 1}));
  writer.add_slice("v", Shape{5, 10}, slice({kAll, {1, 9}}), constant(std::vector<float>(45, 1), Shape{5, 9}));
  writer.finish();
  const BundleReader reader(path("b"));
  const auto whole = reader.read("v").to_vector<float>();
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(whole[i], i % 10 == 0 ? 0 : 1);
  EXPECT_EQ(reader.read_slice("v", slice({kAll, {0, 2}})).to_vector<float>(),
            (std::vector<float>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  expect_same(reader.read_slice("v", slice({kAll, {2, 2}})), constant(std::vector<float>(10, 1), Shape{5, 2}));
}

TEST_F(Slices, C227_TheSameBoxInAnotherSpelling) {
  const Tensor whole = counted(DType::int32, Shape{5, 10});
  write_parts(whole, {slice({{0, 2}, {0, 10}}), slice({{2, 3}, kAll})});
  const BundleReader reader(path("b"));
  expect_same(reader.read_slice("v", slice({{0, 2}, kAll})), cut(whole, slice({{0, 2}, kAll})));
  expect_same(reader.read_slice("v", slice({{2, 3}, {0, 10}})), cut(whole, slice({{2, 3}, kAll})));
  expect_same(reader.read_slice("v", slice({{0, 5}, {0, 10}})), whole);
}

TEST_F(Slices, C227_AnEntryThatSpellsItsKeyInAnotherWay) {
  wire::BundleEntryProto whole = entry_for(DType::int8, Shape{4}, "");
  whole.size = whole.crc32c = 0;
  whole.slices = {slice({{0, 2}}), slice({{2, 2}})};
  wire::BundleEntryProto left = entry_for(DType::int8, Shape{2}, "ab");
  wire::BundleEntryProto right = entry_for(DType::int8, Shape{2}, "cd");
  right.offset = 2;
  put_file(data_path(path("b"), 0, 1), "abcd");
  put_table(index_path(path("b")), {{"", wire::encode(plain_header())},
                                    {slice_key("v", slice({{0, 2}})), wire::encode(left)},
                                    {slice_key("v", slice({{2, 2}})), wire::encode(right)},
                                    {"v", wire::encode(whole)}});
  expect_same(BundleReader(path("b")).read("v"), constant({97, 98, 99, 100}, DType::int8));
}

TEST_F(Slices, C230_PartitionsInRowsReadInColumns) {
  for (DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::uint64, DType::complex64}) {
    const Tensor whole = counted(dtype, Shape{10, 3});
    std::vector<wire::TensorSliceProto> rows;
    for (int i = 0; i < 10; ++i) rows.push_back(slice({{i, 1}, kAll}));
    write_parts(whole, rows);
    const BundleReader reader(path("b"));
    expect_same(reader.read("v"), whole);
    for (int i = 0; i < 2; ++i) {
      const auto part = slice({{5 * i, 5}, kAll});
      expect_same(reader.read_slice("v", part), cut(whole, part));
    }
    for (int i = 0; i < 3; ++i) {
      const auto part = slice({kAll, {i, 1}});
      expect_same(reader.read_slice("v", part), cut(whole, part));
    }
  }
}

TEST_F(Slices, C231_TheWholeIsListedOnceWithItsFullShape) {
  write_parts(counted(DType::int32, Shape{4, 2}), {slice({{0, 1}, kAll}), slice({{1, 3}, kAll})});
  const BundleReader reader(path("b"));
  EXPECT_EQ(reader.keys(), std::vector<std::string>{"v"});
  EXPECT_EQ(reader.entry("v"), (std::pair{DType::int32, Shape{4, 2}}));
  EXPECT_FALSE(reader.contains(slice_key("v", slice({{0, 1}, kAll}))));
}

TEST_F(Slices, C232_AMissingPart) {
  const Tensor whole = counted(DType::int32, Shape{6});
  write_parts(whole, {slice({{0, 2}}), slice({{4, 2}})});
  const BundleReader reader(path("b"));
  expect_contains(message_of<InvalidArgument>([&] { reader.read("v"); }),
                  "Does not have sufficient slices for partitioned tensor v to restore in slice_spec 0,6");
  expect_same(reader.read_slice("v", slice({{4, 2}})), constant({4, 5}));
  expect_same(reader.read_slice("v", slice({{1, 1}})), constant({1}));
}

TEST_F(Slices, C233_OverlappingParts) {
  write_parts(counted(DType::int32, Shape{6}), {slice({{0, 4}}), slice({{2, 4}})});
  expect_contains(message_of<Internal>([&] { BundleReader(path("b")).read("v"); }),
                  "Overlapping slices: existing slice = 0,4, new slice = 2,4");
}

TEST_F(Slices, C233_OverlapsAreSeenAmongBoxesOfAnyArrangement) {
  const Tensor whole = counted(DType::int32, Shape{4, 4, 4});
  std::vector<wire::TensorSliceProto> parts;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j)
      for (std::int64_t k = 0; k < 2; ++k) parts.push_back(slice({{i, 1}, {j, 1}, {2 * k, 2}}));
  write_parts(whole, parts);
  expect_same(BundleReader(path("b")).read("v"), whole);
  for (const auto& one : {slice({{0, 1}, kAll, {0, 1}}), slice({{1, 2}, {2, 1}, {3, 1}})}) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    auto more = parts;
    more.insert(more.begin() + 5, one);
    write_parts(whole, more);
    expect_contains(message_of<Internal>([&] { BundleReader(path("b")).read("v"); }), "Overlapping slices");
  }
}

// A hundred parts that all claim the same bytes would take a hundred times the file's length.
TEST_F(Slices, PartsThatShareBytes) {
  wire::BundleEntryProto whole = entry_for(DType::uint8, Shape{300}, "");
  std::map<std::string, std::string> records{{"", wire::encode(plain_header())}};
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto part = slice({{100 * i, 100}});
    whole.slices.push_back(part);
    records[slice_key("v", part)] = wire::encode(entry_for(DType::uint8, Shape{100}, std::string(100, 'x')));
  }
  whole.size = 0;
  records["v"] = wire::encode(whole);
  put_table(index_path(path("b")), records);
  put_file(data_path(path("b"), 0, 1), std::string(100, 'x'));
  expect_contains(message_of<DataLoss>([&] { BundleReader(path("b")).read("v"); }), "some of them overlap");
}

TEST_F(Slices, C235_PartsThatDisagree) {
  const auto add = [&](const Shape& full, const Tensor& second) {
    BundleWriter writer(path("b"));
    writer.add_slice("v", Shape{4}, slice({{0, 2}}), constant({1, 2}));
    writer.add_slice("v", full, slice({{2, 2}}), second);
  };
  expect_contains(message_of<InvalidArgument>([&] { add(Shape{5}, constant({3, 4})); }), "the parts of 'v' must agree");
  expect_contains(message_of<InvalidArgument>([&] {
                    add(Shape{4}, constant({3.f, 4.f}));
                  }),
                  "the parts of 'v' must agree");
  add(Shape{4}, constant({3, 4}));
}

TEST_F(Slices, C237_APartOfAnotherShape) {
  BundleWriter writer(path("b"));
  expect_contains(message_of<InvalidArgument>([&] {
                    writer.add_slice("v", Shape{4}, slice({{0, 2}}), constant({1, 2, 3}));
                  }),
                  "does not match the shape of the tensor to  save");
}

TEST_F(Slices, KeysOfPartsAndWholesDoNotMix) {
  BundleWriter writer(path("b"));
  writer.add("v", constant({1, 2, 3, 4}));
  expect_contains(message_of<InvalidArgument>([&] {
                    writer.add_slice("v", Shape{4}, slice({{0, 2}}), constant({1, 2}));
                  }),
                  "Adding duplicate key: v");
  BundleWriter twice(path("c"));
  twice.add_slice("v", Shape{4}, slice({{0, 2}}), constant({1, 2}));
  expect_contains(message_of<InvalidArgument>([&] {
                    twice.add_slice("v", Shape{4}, slice({{0, 2}}), constant({1, 2}));
                  }),
                  "Adding duplicate key: v, slice 0,2");
}

TEST_F(Slices, C236_BoxesThatDoNotFit) {
  const BundleWriter writer(path("b"));
  expect_contains(message_of<InvalidArgument>([] {
                    region_of(slice({{8, 5}}), Shape{10});
                  }),
                  "Extent in dimension 0 out of bounds");
  expect_contains(message_of<InvalidArgument>([] { region_of(slice({{-1, 3}}), Shape{10}); }), "out of bounds");
  expect_contains(message_of<InvalidArgument>([] {
                    region_of(slice({{1, std::nullopt}}), Shape{10});
                  }),
                  "out of bounds");
  expect_contains(message_of<InvalidArgument>([] { region_of(slice({{0, 3}}), Shape{10, 20}); }), "Mismatching ranks");
}

TEST_F(Slices, C242_ARegionOfAWholeTensor) {
  const Tensor whole = counted(DType::int32, Shape{4, 3, 2});
  BundleWriter writer(path("b"));
  writer.add_slice("v", whole.shape(), slice({kAll, {0, 3}, kAll}), whole);  // covers all: a plain tensor
  writer.finish();
  const BundleReader reader(path("b"));
  expect_same(reader.read("v"), whole);
  const auto part = slice({{1, 2}, kAll, {1, 1}});
  EXPECT_EQ(reader.read_slice("v", part).to_vector<int>(), (std::vector{7, 9, 11, 13, 15, 17}));
}

TEST_F(Slices, C244_StringsInParts) {
  write_parts(constant({{"a", "b"}, {"c", "d"}}), {slice({{0, 1}, kAll}), slice({{1, 1}, kAll})});
  const BundleReader reader(path("b"));
  expect_same(reader.read("v"), constant({{"a", "b"}, {"c", "d"}}));
  expect_same(reader.read_slice("v", slice({kAll, {1, 1}})), constant({{"b"}, {"d"}}));
}

TEST_F(Slices, ReadsPartsThatTensorFlowWrote) {
  const BundleReader reader(golden("parts"));
  expect_same(reader.read("v"), counted(DType::int32, Shape{5, 10}));
  expect_same(reader.read("s"), constant({{"0", "1"}, {"2", "3"}}));
  EXPECT_EQ(reader.read_slice("v", slice({{2, 1}, {4, 2}})).to_vector<int>(), (std::vector{24, 25}));
}

TEST_F(Slices, WritesPartsAsTensorFlowDoes) {
  const Tensor whole = counted(DType::int32, Shape{5, 10});
  const Tensor names = constant({{"0", "1"}, {"2", "3"}});
  BundleWriter writer(path("parts"));
  for (const auto& part : {slice({{0, 5}, {0, 1}}), slice({kAll, {1, 4}}), slice({kAll, {5, 5}})})
    writer.add_slice("v", whole.shape(), part, cut(whole, part));
  for (const auto& part : {slice({{0, 1}, kAll}), slice({{1, 1}, {0, 2}})})
    writer.add_slice("s", names.shape(), part, cut(names, part));
  writer.finish();
  for (const char* file : {".index", ".data-00000-of-00001"})
    EXPECT_EQ(read_file(path("parts") + file), read_file(golden("parts") + file)) << file;
}

TEST_F(Slices, DamagedListsOfParts) {
  const auto put = [&](std::vector<wire::TensorSliceProto> parts, const Shape& stored) {
    wire::BundleEntryProto whole;
    whole.dtype = static_cast<int>(DType::int8);
    whole.shape = wire::to_proto(Shape{4});
    whole.slices = std::move(parts);
    put_file(data_path(path("b"), 0, 1), "ab");
    put_table(index_path(path("b")),
              {{"", wire::encode(plain_header())},
               {slice_key("v", slice({{0, 2}})), wire::encode(entry_for(DType::int8, stored, "ab"))},
               {"v", wire::encode(whole)}});
    return message_of<DataLoss>([&] { BundleReader(path("b")).read("v"); });
  };
  expect_contains(put({slice({{0, 5}})}, Shape{2}), "the parts of the tensor 'v': Extent in dimension 0 out of bounds");
  expect_contains(put({slice({})}, Shape{2}), "Mismatching ranks");
  expect_contains(put({slice({{2, 2}})}, Shape{2}), "the part 2,2 of the tensor 'v' has no entry");
  expect_contains(put({slice({{0, 2}})}, Shape{1, 2}),
                  "the part 0,2 of the tensor 'v' is int8 [1,2], expected int8 [2]");
}

}  // namespace
}  // namespace capstan::checkpoint
