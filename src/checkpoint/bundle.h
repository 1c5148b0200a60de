// Tensor bundles: TensorFlow's checkpoint files, `P.index` and `P.data-?????-of-?????` for a prefix P. The layout and
// the order of steps that makes writing atomic are told in docs/checkpoint-format.md.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "capstan/tensor/tensor.h"
#include "checkpoint/slice.h"
#include "wire/bundle.h"

namespace capstan::checkpoint {

/// "P.index", "P.data-00000-of-00001".
std::string index_path(std::string_view prefix);
std::string data_path(std::string_view prefix, int shard, int num_shards);

struct BundleOptions {
  std::int64_t alignment = 1;  // of each tensor's first byte in the data file
  FileSystem* files = &FileSystem::system();
};

/// Writes a bundle. Nothing is visible under the prefix before `finish` has succeeded, and what was there before stays
/// readable until then: at any moment, also after a crash, the prefix holds all of the old content or all of the new.
/// An error leaves the writer failed, its temporary files are gone, and `finish` throws the same error. Not for use by
/// several threads at once.
class BundleWriter {
 public:
  explicit BundleWriter(std::string prefix, BundleOptions options = {});
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;
  ~BundleWriter();

  /// Throws InvalidArgument for a key that is taken, empty or begins with a zero byte, TypeError for resource handles,
  /// Unimplemented for variants.
  void add(std::string_view key, const Tensor& tensor);
  /// Adds one part of a tensor of shape `full`. Parts of one tensor agree in type and full shape.
  void add_slice(std::string_view key, const Shape& full, const wire::TensorSliceProto& slice, const Tensor& tensor);
  void finish();

 private:
  void check_open() const;
  template <class Step>
  void guarded(Step step);
  void check_new_key(std::string_view key) const;
  wire::BundleEntryProto append(const Tensor& tensor);
  std::uint32_t append_elements(const Tensor& tensor);
  std::uint32_t append_strings(const Tensor& tensor);
  void align();
  void commit();
  void publish(TemporaryFile& index, int num_shards);
  void write_index(TemporaryFile& file, int num_shards) const;
  void remove_published(int num_shards) noexcept;
  void remove_superseded(int num_shards) const;

  std::string prefix_;
  std::string directory_;
  BundleOptions options_;
  std::unique_ptr<TemporaryFile> data_;
  std::map<std::string, wire::BundleEntryProto, std::less<>> entries_;
  std::vector<std::string> published_;
  std::exception_ptr failure_;
  bool is_finished_ = false;
};

/// What the index says of one tensor.
struct BundleEntry {
  std::string key;
  wire::BundleEntryProto proto;
  DType dtype = DType::invalid;
  Shape shape;
};

/// Reads a bundle. The index is read and verified by the constructor, data when they are asked for, with their
/// checksums. Up to 64 of the data files are kept open, so a reader of a usual bundle goes on reading what it opened
/// while the prefix is written anew. Any number of threads may read at once.
class BundleReader {
 public:
  explicit BundleReader(std::string prefix, FileSystem& files = FileSystem::system());
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;
  ~BundleReader();

  const std::string& prefix() const { return prefix_; }
  const wire::BundleHeaderProto& header() const { return header_; }
  /// The tensors' names, sorted; parts of partitioned tensors are not listed.
  std::vector<std::string> keys() const;
  bool contains(std::string_view key) const;
  /// Type and full shape; throws NotFound for an unknown key, Unimplemented for a type that this library does not have.
  std::pair<DType, Shape> entry(std::string_view key) const;
  Tensor read(std::string_view key) const;
  /// Throws DataLoss if the tensors take more bytes than the data files have, so that some of them overlap: to be
  /// called by those who read all.
  void check_total_size() const;
  /// A box of the tensor, put together from the parts that are stored.
  Tensor read_slice(std::string_view key, const wire::TensorSliceProto& slice) const;

 private:
  using Shard = std::shared_ptr<const ReadableFile>;
  struct Part {
    wire::TensorSliceProto slice;
    Region region;
  };

  FileStatus load();
  void read_index(const ReadableFile& file);
  void check_header() const;
  void open_shards();
  const std::string* find(std::string_view key) const;
  BundleEntry entry_of(std::string_view key) const;
  Shard shard(int id) const;
  /// The entry's data file, once its numbers are found to fit each other and the file.
  Shard data_file(const BundleEntry& entry) const;
  Tensor read_whole(const BundleEntry& entry) const;
  std::vector<Part> parts_of(const BundleEntry& entry) const;
  void check_disjoint(const BundleEntry& entry, const std::vector<Part>& parts) const;
  std::string part_key(const BundleEntry& entry, const wire::TensorSliceProto& slice) const;
  Tensor gather(const BundleEntry& entry, const Region& wanted) const;

  std::string prefix_;
  FileSystem& files_;
  wire::BundleHeaderProto header_;
  std::vector<std::pair<std::string, std::string>> records_;  // all but the header, sorted by key
  mutable std::mutex mutex_;
  struct OpenShard {
    Shard file;
    std::uint64_t last_use = 0;
  };
  mutable std::map<int, OpenShard> shards_;
  mutable std::uint64_t uses_ = 0;
};

}  // namespace capstan::checkpoint
