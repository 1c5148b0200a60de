// What the tests of this folder share: a directory of their own, bundles made by hand, comparison of tensors.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/crc32c.h"
#include "base/faulty_files.h"
#include "base/file.h"
#include "base/test_errors.h"
#include "capstan/base/error.h"
#include "capstan/tensor/tensor.h"
#include "checkpoint/bundle.h"
#include "checkpoint/table.h"

namespace capstan::checkpoint {

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "capstan-checkpoint-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(std::string_view name) const { return join_path(directory_, name); }

  std::string directory_;
};

inline std::string golden(std::string_view name) { return join_path(CAPSTAN_GOLDEN_DIR "/bundle", name); }

inline void expect_same(const Tensor& a, const Tensor& b, std::string_view what = {}) {
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  ASSERT_EQ(a.shape(), b.shape()) << what;
  if (a.dtype() == DType::string) {
    EXPECT_EQ(a.to_vector<std::string>(), b.to_vector<std::string>()) << what;
  } else {
    const auto bytes = static_cast<std::size_t>(a.size()) * dtype_size(a.dtype());
    EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), bytes), 0) << what;
  }
}

/// Without waiting for the disk.
inline void put_file(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline wire::BundleHeaderProto plain_header() {
  wire::BundleHeaderProto header;
  header.num_shards = 1;
  header.version.producer = 1;
  return header;
}

inline void put_table(const std::string& path, const std::map<std::string, std::string>& records) {
  FaultyFiles files;
  TemporaryFile file(path, files);
  TableWriter writer(file);
  for (const auto& [key, value] : records) writer.add(key, value);
  writer.finish();
  file.sync();
  file.publish(path);
}

/// A bundle with one tensor, "t", at the start of its data file.
inline wire::BundleEntryProto entry_for(DType dtype, const Shape& shape, std::string_view data) {
  wire::BundleEntryProto entry;
  entry.dtype = static_cast<int>(dtype);
  entry.shape = wire::to_proto(shape);
  entry.size = static_cast<std::int64_t>(data.size());
  entry.crc32c = mask_crc(crc32c(data));
  return entry;
}

inline void put_bundle(const std::string& prefix, const wire::BundleHeaderProto& header,
                       const wire::BundleEntryProto& entry, std::string_view data) {
  put_table(index_path(prefix), {{"", wire::encode(header)}, {"t", wire::encode(entry)}});
  put_file(data_path(prefix, 0, header.num_shards), data);
}

}  // namespace capstan::checkpoint
