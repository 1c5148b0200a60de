#include "capstan/tensor/npy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

#include "base/faulty_files.h"
#include "base/memory.h"
#include "capstan/base/error.h"
#include "tensor/npy_files.h"
#include "tensor/npy_header.h"
#include "tensor/storage.h"
#include "tensor/type_switch.h"
#include "tensor/zip_archive.h"

namespace capstan {
namespace {

const std::string kGolden = CAPSTAN_GOLDEN_DIR "/npy/";

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(testing::TempDir() + "capstan_npy_" + std::to_string(::getpid()) + "/") {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + name; }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

/// Same type, shape and bytes.
void expect_same(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_EQ(actual.shape(), expected.shape());
  if (actual.dtype() == DType::string) {
    EXPECT_EQ(actual.to_vector<std::string>(), expected.to_vector<std::string>());
  } else {
    const auto size = static_cast<std::size_t>(actual.size()) * dtype_size(actual.dtype());
    EXPECT_EQ(std::memcmp(actual.raw_data(), expected.raw_data(), size), 0) << actual << "\n" << expected;
  }
}

template <class Kind>
void expect_error(const std::function<void()>& work, const std::string& part) {
  try {
    work();
    FAIL() << "no error, expected: " << part;
  } catch (const Kind& error) {
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

struct Row {
  const char* name;
  DType dtype;
};
constexpr Row kNumbers[] = {{"i1", DType::int8},       {"i2", DType::int16},   {"i4", DType::int32},
                            {"i8", DType::int64},      {"u1", DType::uint8},   {"u2", DType::uint16},
                            {"u4", DType::uint32},     {"u8", DType::uint64},  {"f2", DType::float16},
                            {"f4", DType::float32},    {"f8", DType::float64}, {"c8", DType::complex64},
                            {"c16", DType::complex128}};

Tensor golden_values(DType dtype) {
  if (!is_complex(dtype)) return constant_as(constant({{0, 1, 2}, {100, 99, 98}}), dtype);
  using C = std::complex<double>;
  return constant_as(constant({{C(0, 100), C(1, 99), C(2, 98)}, {C(100, 0), C(99, 1), C(98, 2)}}), dtype);
}

TEST(Npy, ReadsEveryNumberTypeInBothByteOrders) {
  for (const auto& [name, dtype] : kNumbers)
    for (const char* order : {"_little", "_big"}) {
      SCOPED_TRACE(std::string(name) + order);
      expect_same(load_npy(kGolden + name + order + ".npy"), golden_values(dtype));
    }
  expect_same(load_npy(kGolden + "bfloat16.npy"), golden_values(DType::bfloat16));
  expect_same(load_npy(kGolden + "b1.npy"), constant({{false, true, false}, {false, true, false}}));
}

TEST(Npy, ReadsEveryVersionAndLayout) {
  expect_same(load_npy(kGolden + "version2.npy"), golden_values(DType::float32));
  expect_same(load_npy(kGolden + "version3.npy"), golden_values(DType::float32));
  expect_same(load_npy(kGolden + "scalar.npy"), constant(2.5));
  expect_same(load_npy(kGolden + "empty.npy"), new_tensor(DType::int16, {0, 3}));
  std::vector<float> rising(24);
  std::iota(rising.begin(), rising.end(), 0.f);
  expect_same(load_npy(kGolden + "fortran.npy"), constant(rising, {2, 3, 4}));
  expect_same(load_npy(kGolden + "fortran_big.npy"),
              constant_as(constant({{0., 1., 2.}, {3., 4., 5.}}), DType::complex128));
}

TEST(Npy, ReadsText) {
  const Tensor words = constant({{"plain", "é"}, {"日本", "😀"}});
  for (const char* name : {"unicode_little", "unicode_big", "unicode_fortran"})
    expect_same(load_npy(kGolden + name + ".npy"), words);
  expect_same(load_npy(kGolden + "bytes.npy"), constant({std::string("a"), std::string("\xff\0b", 3), std::string()}));
}

TEST(Npy, NamesWhatItCannotRead) {
  expect_error<Unimplemented>([] { load_npy(kGolden + "object.npy"); }, "object.npy: the array holds Python objects");
  expect_error<Unimplemented>([] { load_npy(kGolden + "record.npy"); }, "record.npy: the array holds records");
  expect_error<Unimplemented>([] { load_npy(kGolden + "date.npy"); }, "'<M8[D]' has no tensor type");
  expect_error<Unimplemented>([] { load_npy(kGolden + "longdouble.npy"); }, "'f16' has no tensor type");
  expect_error<NotFound>([] { load_npy(kGolden + "missing.npy"); },
                         "cannot open '" + kGolden + "missing.npy': No such file");
  expect_error<FailedPrecondition>([] { load_npy(kGolden); }, "Is a directory");
  expect_error<InvalidArgument>([] { load_npy(kGolden + "none.npz"); }, "none.npz: this is no .npy file");
}

std::vector<Tensor> samples() {
  std::vector<Tensor> all{constant(2.5f),
                          new_tensor(DType::float64, {0}),
                          new_tensor(DType::string, {3, 0}),
                          constant({true, false}),
                          constant({"text", "", "日本"}),
                          constant(std::string("a\0b", 3)),
                          constant({{{1}, {2}}, {{3}, {4}}})};
  for (const auto& row : kNumbers) all.push_back(golden_values(row.dtype));
  all.push_back(golden_values(DType::bfloat16));
  return all;
}

TEST(Npy, ReadsWhatItWrote) {
  for (const Tensor& tensor : samples()) {
    const std::string bytes = npy_to_bytes(tensor);
    EXPECT_EQ(parse_npy_header(bytes_of(bytes)).bytes % 64, 0u);
    expect_same(npy_from_bytes(bytes_of(bytes)), tensor);
  }
}

TEST(Npy, WritesNumPysOwnHeader) {
  const std::string bytes = npy_to_bytes(constant({{1.f, 2.f, 3.f}}));
  EXPECT_EQ(bytes.substr(0, 68),
            std::string("\x93NUMPY\x01\x00v\x00", 10) + "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), ");
  EXPECT_NE(npy_to_bytes(constant({1, 2})).find("'shape': (2,), }"), std::string::npos);
  EXPECT_NE(npy_to_bytes(constant(1)).find("'shape': (), }"), std::string::npos);
}

TEST(Npy, FilesAppearComplete) {
  TemporaryFolder folder;
  save_npy(folder / "x.npy", constant({1, 2, 3}));
  expect_same(load_npy(folder / "x.npy"), constant({1, 2, 3}));
  const std::string zero_at_end("a\0", 2);
  expect_error<InvalidArgument>([&] { save_npy(folder / "x.npy", constant(zero_at_end)); },
                                "x.npy: the string 'a\\x00' ends with a zero byte");
  expect_error<TypeError>([&] { save_npy(folder / "x.npy", new_tensor(DType::variant, {1})); },
                          "type variant cannot be saved");
  expect_error<NotFound>([&] { save_npy(folder / "no/x.npy", constant(1)); }, "no/x.npy");
  expect_same(load_npy(folder / "x.npy"), constant({1, 2, 3}));
  EXPECT_EQ(folder.file_count(), 1u) << "nothing unfinished stays behind";
}

TEST(Npy, ThreadsThatSaveUnderOneNameDoNotMix) {
  TemporaryFolder folder;
  const auto save = [&](int value) {
    FaultyFiles files;  // does not wait for the disk
    for (int i = 0; i < 30; ++i) save_npy(folder / "x.npy", constant(std::vector<int>(3000, value)), files);
  };
  std::thread other([&] { save(1); });
  save(2);
  other.join();
  const std::vector<int> values = load_npy(folder / "x.npy").to_vector<int>();
  EXPECT_EQ(values, std::vector<int>(3000, values.at(0)));
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(Npy, ASaveThatFailsOrStopsAnywhereLeavesTheOldFileOrTheNew) {
  TemporaryFolder folder;
  const auto value = [&] { return load_npz(folder / "x.npz").at("x").item<int>(); };
  for (const Fault fault : {Fault::fails, Fault::fails_but_happened, Fault::stops_before, Fault::lost_power}) {
    bool has_struck = true;
    for (int call = 0; has_struck; ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      FaultyFiles well;
      save_npz(folder / "x.npz", {{"x", constant(1)}}, well);
      FaultyFiles files(fault, call);
      bool is_saved = true;
      try {
        save_npz(folder / "x.npz", {{"x", constant(2)}}, files);
      } catch (const Unavailable&) {
        is_saved = false;
      }
      has_struck = files.has_struck();
      EXPECT_TRUE(has_struck || call > 5) << "saving makes more calls than that";
      EXPECT_TRUE(value() == 2 || (!is_saved && value() == 1));
    }
  }
  FaultyFiles well;
  save_npz(folder / "x.npz", {{"x", constant(3)}}, well);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(Npy, ADirectoryThatLosesPowerKeepsWhatWasSaved) {
  TemporaryFolder folder;
  FaultyFiles files;
  save_npy(folder / "x.npy", constant(1), files);
  files.lose_power();
  EXPECT_EQ(load_npy(folder / "x.npy").item<int>(), 1);
}

TEST(Npy, PipesAreWrittenAndRead) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { save_npy(folder / "pipe", constant({1, 2})); });
  expect_same(load_npy(folder / "pipe"), constant({1, 2}));
  writer.join();
}

std::string with_header(const std::string& dictionary, const std::string& elements = "") {
  const auto length = dictionary.size();
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255) + static_cast<char>(length >> 8) +
         dictionary + elements;
}

TEST(Npy, HeaderIsReadAsPythonWouldReadIt) {
  const Tensor expected = constant({{1, 2}});
  const std::string elements("\1\0\0\0\2\0\0\0", 8);
  for (const char* dictionary : {"{'descr':'<i4','fortran_order':False,'shape':(1,2)}",
                                 "{ \"shape\" : ( 1L , 2L, ) ,\n'fortran_order' : True , 'descr' : '=i4', } \n"})
    expect_same(npy_from_bytes(bytes_of(with_header(dictionary, elements))), expected);
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const char* dictionary : {"",
                                 "{",
                                 "{}",
                                 "[]",
                                 "{'descr'",
                                 "{'descr':}",
                                 "{'descr':'<f4'}",
                                 "{'descr':'<f4','fortran_order':False}",
                                 "{'descr':'<f4','fortran_order':0,'shape':()}",
                                 "{'descr':'<f4','fortran_order':False,'shape':(-1,)}",
                                 "{'descr':'<f4','fortran_order':False,'shape':(1 2)}",
                                 "{'descr':'<f4','fortran_order':False,'shape':3}",
                                 "{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}",
                                 "{'descr':'<f4','descr':'<f4','fortran_order':False,'shape':()}",
                                 "{'descr':'<f4','fortran_order':False,'shape':(),'more':1}",
                                 "{'descr':'','fortran_order':False,'shape':()}",
                                 "{'descr':'<f','fortran_order':False,'shape':()}",
                                 "{'descr':'<f4x','fortran_order':False,'shape':()}",
                                 "{'descr':'<S99999999999999','fortran_order':False,'shape':()}",
                                 "{'descr':'<f4','fortran_order':False,'shape':()} x",
                                 "{'descr':'<f4,'fortran_order':False,'shape':()}"})
    expect_error<InvalidArgument>([&] { npy_from_bytes(bytes_of(with_header(dictionary)), "bad.npy"); },
                                  "bad.npy: the .npy header is malformed at character");
  std::string many = "{'descr':'<f4','fortran_order':False,'shape':(";
  for (int i = 0; i < 300; ++i) many += "1,";
  expect_error<InvalidArgument>([&] { npy_from_bytes(bytes_of(with_header(many + ")}"))); }, "too many dimensions");
  expect_error<InvalidArgument>([] { npy_from_bytes(bytes_of("hello world")); }, "npy data: this is no .npy file");
  expect_error<InvalidArgument>([] { npy_from_bytes({}); }, "this is no .npy file");
  std::string future = npy_to_bytes(constant(1));
  future[6] = 4;
  expect_error<InvalidArgument>([&] { npy_from_bytes(bytes_of(future)); }, "1.0, 2.0 or 3.0, got 4.0");
}

TEST(Npy, HugeDeclaredSizesAllocateNothing) {
  const auto declared = [](const std::string& type, const std::string& shape) {
    return with_header("{'descr':'" + type + "','fortran_order':False,'shape':" + shape + "}", "1234");
  };
  const auto calls = memory::statistics().bytes_from_system;
  for (const auto& [type, shape] : std::vector<std::pair<std::string, std::string>>{{"<f8", "(1000000000000000,)"},
                                                                                    {"<f4", "(2,)"},
                                                                                    {"|S0", "(1000000000000000,)"},
                                                                                    {"<U0", "(3,)"},
                                                                                    {"|S1099511627776", "(9999999,)"}})
    expect_error<DataLoss>([&] { npy_from_bytes(bytes_of(declared(type, shape)), "huge.npy"); },
                           "do not match the 4 bytes that follow the .npy header");
  expect_error<InvalidArgument>(
      [&] { npy_from_bytes(bytes_of(declared("<f4", "(4611686018427387904,4611686018427387904)"))); },
      "does not fit into 64 bits");
  EXPECT_LE(memory::statistics().bytes_from_system, calls + (4u << 20));
  expect_same(npy_from_bytes(bytes_of(with_header(
                  "{'descr':'<f4','fortran_order':False,'shape':(0,4611686018427387904,4611686018427387904)}"))),
              new_tensor(DType::float32, {0, 1LL << 62, 1LL << 62}));
}

TEST(Npy, TextThatIsNoUnicodeIsDataLoss) {
  const std::string dictionary = "{'descr':'<U1','fortran_order':False,'shape':()}";
  for (const std::string& bad : {std::string("\0\0\x11\0", 4), std::string("\0\xd8\0\0", 4), std::string(4, '\xff')})
    expect_error<DataLoss>([&] { npy_from_bytes(bytes_of(with_header(dictionary, bad))); }, "no Unicode character");
}

TEST(Npy, BoolsOtherThanZeroAndOneAreTrue) {
  const std::string dictionary = "{'descr':'|b1','fortran_order':False,'shape':(3,)}";
  expect_same(npy_from_bytes(bytes_of(with_header(dictionary, std::string("\0\1\x80", 3)))),
              constant({false, true, true}));
}

/// Damages a file in every way of one byte and of one cut; each time an `Error`, or a value that passes `check`.
void damage(const std::string& good, const std::function<void(std::span<const std::byte>)>& read, bool may_flip) {
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string cut = good.substr(0, length);
    EXPECT_THROW(read(bytes_of(cut)), Error) << "cut to " << length;
  }
  EXPECT_THROW(read(bytes_of(good + "x")), Error) << "a byte more";
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int mask : {0x01, 0x02, 0x10, 0x20, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ mask);
      try {
        read(bytes_of(bad));
      } catch (const Error&) {
        continue;
      }
      EXPECT_TRUE(may_flip) << "byte " << at << " mask " << mask;
    }
}

TEST(Npy, AFortranShapeBesideA0MayBeHuge) {
  const Tensor empty = npy_from_bytes(bytes_of(with_header(
      "{'descr': '<i4', 'fortran_order': True, 'shape': (4611686018427387904, 4611686018427387904, 0), }")));
  EXPECT_EQ(empty.shape(), (Shape{std::int64_t{1} << 62, std::int64_t{1} << 62, 0}));
}

TEST(Npy, DamagedFilesAreErrors) {
  for (const char* name : {"f4_little", "unicode_big", "bytes", "fortran_big", "b1"})
    damage(
        file_bytes(kGolden + name + ".npy"), [](auto bytes) { npy_from_bytes(bytes); }, true);
}

std::map<std::string, Tensor> golden_archive() {
  return {{"x", golden_values(DType::float32)},
          {"labels", constant({std::int64_t{3}, std::int64_t{1}})},
          {"sub/name", constant(true)}};
}

void expect_same(const std::map<std::string, Tensor>& actual, const std::map<std::string, Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(actual.contains(name));
    expect_same(actual.at(name), tensor);
  }
}

TEST(Npz, ReadsStoredAndDeflatedArchives) {
  expect_same(load_npz(kGolden + "stored.npz"), golden_archive());
  auto expected = golden_archive();
  expected["zeros"] = constant(std::vector<float>(5000), {100, 50});
  expect_same(load_npz(kGolden + "deflated.npz"), expected);
  EXPECT_TRUE(load_npz(kGolden + "none.npz").empty());
  EXPECT_EQ(load_npz(kGolden + "comment.npz").at("x").size(), 3);
}

TEST(Npz, ReadsWhatItWrote) {
  std::map<std::string, Tensor> tensors{{"", constant(1)}, {"ключ", constant(2)}};
  for (const Tensor& tensor : samples()) tensors["t" + std::to_string(tensors.size())] = tensor;
  TemporaryFolder folder;
  save_npz(folder / "all.npz", tensors);
  expect_same(load_npz(folder / "all.npz"), tensors);
  EXPECT_EQ(file_bytes(folder / "all.npz"), npz_to_bytes(tensors)) << "the same tensors give the same bytes";
  EXPECT_TRUE(npz_from_bytes(bytes_of(npz_to_bytes({}))).empty());
}

TEST(Npz, ManyEntriesNeedTheLargeDirectory) {
  std::map<std::string, Tensor> tensors;
  const Tensor one = constant(1);
  for (int i = 0; i < 65'540; ++i) tensors.emplace(std::to_string(i), one);
  const auto read = npz_from_bytes(bytes_of(npz_to_bytes(tensors)));
  EXPECT_EQ(read.size(), tensors.size());
  EXPECT_EQ(read.at("65539").item<int>(), 1);
}

std::string archive_with_long_fields(std::uint64_t limit) {
  std::string bytes;
  ZipWriter writer([&](const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); },
                   limit);
  for (const auto& [name, tensor] : golden_archive()) {
    const std::string image = npy_to_bytes(tensor);
    writer.add(name + ".npy", std::vector<std::string_view>{image});
  }
  writer.finish();
  return bytes;
}

TEST(Npz, FieldsOf64Bits) {
  for (const std::uint64_t limit : {std::uint64_t{1}, std::uint64_t{140}, std::uint64_t{200}})
    expect_same(npz_from_bytes(bytes_of(archive_with_long_fields(limit))), golden_archive());
}

TEST(Npz, NamesWhatItCannotRead) {
  expect_error<Unimplemented>([] { load_npz(kGolden + "bzip2.npz"); },
                              "bzip2.npz: entry 'x.npy': zip compression method 12");
  expect_error<InvalidArgument>([] { load_npz(kGolden + "text.npz"); },
                                "entry 'readme.txt': an .npz archive holds only .npy entries");
  expect_error<InvalidArgument>([] { load_npz(kGolden + "i4_little.npy"); }, "this is no .npz file");
  expect_error<NotFound>([] { load_npz(kGolden + "missing.npz"); },
                         "cannot open '" + kGolden + "missing.npz': No such file");
  expect_error<TypeError>([] { npz_to_bytes({{"v", new_tensor(DType::variant, {})}}); }, "array 'v': a tensor of type");
  expect_error<InvalidArgument>([] { npz_to_bytes({{std::string(70'000, 'n'), constant(1)}}); }, "65535 bytes");
}

TEST(Npz, AWrongElementFailsTheChecksum) {
  std::string bytes = npz_to_bytes({{"x", constant({1.f, 2.f})}});
  bytes[bytes.find(std::string("\x80\x3f", 2))] ^= 1;
  expect_error<DataLoss>([&] { npz_from_bytes(bytes_of(bytes), "bad.npz"); },
                         "bad.npz: entry 'x.npy': the zip archive is damaged: an entry's checksum is wrong");
}

TEST(Npz, EntriesThatShareBytesAreRefused) {
  std::string bytes = npz_to_bytes({{"a", constant(std::vector<float>(1000))}});
  const std::size_t directory = bytes.find("PK\1\2"), end = bytes.find("PK\5\6");
  const std::string row = bytes.substr(directory, end - directory);
  bytes.insert(end, row);
  for (const std::size_t count : {8, 10}) bytes[bytes.size() - 22 + count] = 2;
  bytes[bytes.size() - 22 + 12] = static_cast<char>(2 * row.size());
  expect_error<DataLoss>([&] { npz_from_bytes(bytes_of(bytes)); }, "its entries are longer than the archive");
}

TEST(Npz, DamagedFilesAreErrors) {
  const auto read = [](std::span<const std::byte> bytes) { expect_same(npz_from_bytes(bytes), golden_archive()); };
  // A flip in a date or in a copy of a number that the directory has too changes nothing that is read.
  damage(
      file_bytes(kGolden + "stored.npz"), [](auto bytes) { npz_from_bytes(bytes); }, true);
  damage(
      archive_with_long_fields(1), [](auto bytes) { npz_from_bytes(bytes); }, true);
  read(bytes_of(archive_with_long_fields(1)));
  damage(
      file_bytes(kGolden + "deflated.npz"), [](auto bytes) { npz_from_bytes(bytes); }, true);
}

}  // namespace
}  // namespace capstan
