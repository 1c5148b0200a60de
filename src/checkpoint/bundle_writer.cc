#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/crc32c.h"
#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "checkpoint/bundle.h"
#include "checkpoint/coding.h"
#include "checkpoint/table.h"

namespace capstan::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "elements go between memory and file as they stand");

constexpr std::int64_t kMostAlignment = 1 << 20;
constexpr std::size_t kChunkBytes = 1 << 20;  // checksummed and written while it is in the cache

/// The number of shards that the bundle now under the prefix is made of: none if there is no bundle, -1 if its index
/// cannot be understood.
std::optional<int> live_shards(const std::string& prefix, FileSystem& files) {
  std::optional<int> shards;
  try {
    const ReadableFile file(index_path(prefix), files);
    shards = -1;
    TableReader(file).scan([&](std::string_view key, std::string_view value) {
      if (key.empty()) shards = wire::decode_bundle_header(value).num_shards;
    });
  } catch (const NotFound&) {
  } catch (const DataLoss&) {
    shards = -1;
  } catch (const OutOfRange&) {
    shards = -1;
  }
  return shards;
}

/// Paths of the existing data files of a bundle of `num_shards` shards.
std::vector<std::string> data_files(const std::string& prefix, int num_shards, FileSystem& files) {
  const std::string directory = parent_directory(prefix);
  const std::string begin = fmt::format("{}.data-", base_name(prefix));
  const std::string end = fmt::format("-of-{:05d}", num_shards);
  std::vector<std::string> found;
  for (const std::string& name : list_directory(directory, files)) {
    if (name.size() < begin.size() + 5 + end.size() || !name.starts_with(begin) || !name.ends_with(end)) continue;
    const std::string_view number =
        std::string_view(name).substr(begin.size(), name.size() - begin.size() - end.size());
    if (number.find_first_not_of("0123456789") == std::string_view::npos) found.push_back(join_path(directory, name));
  }
  return found;
}

/// A number of shards whose file names the living bundle does not use: its data stay untouched until the new index is
/// in place, and the rename of the index alone decides which of the two there is.
int free_shard_count(const std::string& prefix, std::optional<int> live, FileSystem& files) {
  if (!live) return 1;
  if (*live > 0) return *live == 1 ? 2 : 1;
  int count = 1;
  while (!data_files(prefix, count, files).empty()) ++count;
  return count;
}

}  // namespace

std::string index_path(std::string_view prefix) { return fmt::format("{}.index", prefix); }

std::string data_path(std::string_view prefix, int shard, int num_shards) {
  return fmt::format("{}.data-{:05d}-of-{:05d}", prefix, shard, num_shards);
}

BundleWriter::BundleWriter(std::string prefix, BundleOptions options)
    : prefix_(std::move(prefix)), directory_(parent_directory(prefix_)), options_(options) {
  if (prefix_.empty()) throw InvalidArgument("BundleWriter: the prefix must not be empty");
  if (options_.alignment < 1 || options_.alignment > kMostAlignment)
    throw InvalidArgument(
        fmt::format("BundleWriter: the alignment must be from 1 to {}, got {}", kMostAlignment, options_.alignment));
  make_directories(directory_, *options_.files);
  data_ = std::make_unique<TemporaryFile>(data_path(prefix_, 0, 1), *options_.files);
}

BundleWriter::~BundleWriter() = default;

void BundleWriter::check_open() const {
  if (failure_) std::rethrow_exception(failure_);
  if (is_finished_) throw Internal(fmt::format("BundleWriter is closed: '{}' was finished before", prefix_));
}

/// Runs a step of the writing; after an error there is nothing left of the writing but the error.
template <class Step>
void BundleWriter::guarded(Step step) {
  check_open();
  try {
    step();
  } catch (...) {
    failure_ = std::current_exception();
    data_.reset();
    throw;
  }
}

void BundleWriter::check_new_key(std::string_view key) const {
  if (key.empty()) throw InvalidArgument(fmt::format("BundleWriter '{}': a key must not be empty", prefix_));
  if (key.front() == kSliceKeyMark)
    throw InvalidArgument(fmt::format("BundleWriter '{}': a key must not begin with a zero byte", prefix_));
  if (entries_.contains(key))
    throw InvalidArgument(fmt::format("BundleWriter '{}': Adding duplicate key: {}", prefix_, key));
}

void BundleWriter::add(std::string_view key, const Tensor& tensor) {
  guarded([&] {
    check_new_key(key);
    auto entry = append(tensor);
    entries_.emplace(key, std::move(entry));
  });
}

void BundleWriter::add_slice(std::string_view key, const Shape& full, const wire::TensorSliceProto& slice,
                             const Tensor& tensor) {
  const Region region = region_of(slice, full);
  if (region.num_elements() == full.num_elements() && region.shape() == full && tensor.shape() == full)
    return add(key, tensor);
  guarded([&] {
    if (tensor.shape() != region.shape())
      throw InvalidArgument(
          fmt::format("BundleWriter '{}': Slice in shape_and_slice specification does not match the "
                      "shape of the tensor to  save: {} for '{}', the slice has {}",
                      prefix_, tensor.shape().to_string(), key, region.shape().to_string()));
    const auto known = entries_.find(key);
    if (known == entries_.end() || known->second.slices.empty())
      check_new_key(key);
    else if (wire::to_shape(known->second.shape) != full || known->second.dtype != static_cast<int>(tensor.dtype()))
      throw InvalidArgument(
          fmt::format("BundleWriter '{}': the parts of '{}' must agree in type and full shape, got {} {}", prefix_, key,
                      dtype_name(tensor.dtype()), full.to_string()));
    std::string part = slice_key(key, slice);
    if (entries_.contains(part))
      throw InvalidArgument(
          fmt::format("BundleWriter '{}': Adding duplicate key: {}, slice {}", prefix_, key, region.to_string()));
    auto entry = append(tensor);
    entries_.emplace(std::move(part), std::move(entry));
    auto& whole = entries_[std::string(key)];
    whole.dtype = static_cast<int>(tensor.dtype());
    whole.shape = wire::to_proto(full);
    whole.slices.push_back(slice);
  });
}

wire::BundleEntryProto BundleWriter::append(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::resource)
    throw TypeError(
        fmt::format("BundleWriter '{}': a resource handle has no value to save; save what it refers to", prefix_));
  if (dtype == DType::variant)
    throw Unimplemented(fmt::format("BundleWriter '{}': tensors of type variant cannot be saved", prefix_));
  align();
  wire::BundleEntryProto entry;
  entry.dtype = static_cast<int>(dtype);
  entry.shape = wire::to_proto(tensor.shape());
  entry.offset = static_cast<std::int64_t>(data_->size());
  entry.crc32c = mask_crc(dtype == DType::string ? append_strings(tensor) : append_elements(tensor));
  entry.size = static_cast<std::int64_t>(data_->size()) - entry.offset;
  return entry;
}

std::uint32_t BundleWriter::append_elements(const Tensor& tensor) {
  std::span bytes(static_cast<const std::byte*>(tensor.raw_data()),
                  static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype()));
  std::uint32_t crc = 0;
  while (!bytes.empty()) {
    const auto chunk = bytes.first(std::min(bytes.size(), kChunkBytes));
    crc = crc32c(crc, chunk);
    data_->append(chunk);
    bytes = bytes.subspan(chunk.size());
  }
  return crc;
}

// The lengths' checksum is taken over fixed-width numbers, not over the varints that are stored: 32 bits wide where
// that is enough, because files were once written so.
std::uint32_t BundleWriter::append_strings(const Tensor& tensor) {
  const auto strings = tensor.values<std::string>();
  std::uint32_t crc = 0;
  std::string lengths;
  for (const std::string& text : strings) {
    const std::uint64_t length = text.size();
    put_varint(lengths, length);
    crc = crc32c(crc, std::as_bytes(std::span(&length, 1)).first(length <= 0xffffffffu ? 4 : 8));
  }
  std::string stored_crc;
  put_fixed32(stored_crc, mask_crc(crc));
  crc = crc32c(crc, std::as_bytes(std::span(stored_crc)));
  data_->append(lengths);
  data_->append(stored_crc);
  for (const std::string& text : strings) {
    crc = crc32c(crc, std::as_bytes(std::span(text)));
    data_->append(text);
  }
  return crc;
}

void BundleWriter::align() {
  const auto alignment = static_cast<std::uint64_t>(options_.alignment);
  data_->append(std::string((alignment - data_->size() % alignment) % alignment, '\0'));
}

void BundleWriter::finish() {
  guarded([&] { commit(); });
  is_finished_ = true;
}

void BundleWriter::commit() {
  data_->sync();
  // From the choice of names until the old files are gone, no other writer of ours may make the same choice.
  const DirectoryLock lock(directory_, *options_.files);
  const std::optional<int> before = live_shards(prefix_, *options_.files);
  const int num_shards = free_shard_count(prefix_, before, *options_.files);
  TemporaryFile index(index_path(prefix_), *options_.files);
  write_index(index, num_shards);
  index.sync();
  try {
    publish(index, num_shards);
  } catch (...) {
    remove_published(num_shards);
    throw;
  }
  if (before.value_or(0) > 0) remove_superseded(*before);
}

void BundleWriter::publish(TemporaryFile& index, int num_shards) {
  FileSystem& files = *options_.files;
  published_.push_back(data_path(prefix_, 0, num_shards));
  data_->publish(published_.back());
  for (int shard = 1; shard < num_shards; ++shard) {  // a bundle says how many shards it has: they are there, but empty
    TemporaryFile empty(data_path(prefix_, shard, num_shards), files);
    empty.sync();
    published_.push_back(data_path(prefix_, shard, num_shards));
    empty.publish(published_.back());
  }
  sync_directory(directory_, files);
  index.publish(index_path(prefix_));
  sync_directory(directory_, files);
}

void BundleWriter::write_index(TemporaryFile& file, int num_shards) const {
  wire::BundleHeaderProto header;
  header.num_shards = num_shards;
  header.version.producer = kBundleVersion;
  header.version.min_consumer = kBundleMinConsumer;
  TableWriter table(file);
  table.add("", wire::encode(header));
  for (const auto& [key, entry] : entries_) table.add(key, wire::encode(entry));
  table.finish();
}

/// Takes back data files under their final names, unless the index refers to them after all: a rename that is reported
/// as failed may have happened.
void BundleWriter::remove_published(int num_shards) noexcept {
  try {
    if (live_shards(prefix_, *options_.files) == num_shards) return;
    for (const std::string& path : published_) options_.files->remove(path);
  } catch (const Error&) {  // cannot tell: what is left over does no harm
  }
}

void BundleWriter::remove_superseded(int num_shards) const {
  try {
    for (const std::string& path : data_files(prefix_, num_shards, *options_.files)) remove_file(path, *options_.files);
  } catch (const Error& error) {
    warn(fmt::format("the checkpoint '{}' is written, but data of the one before could not be removed: {}", prefix_,
                     error.message()));
  }
}

}  // namespace capstan::checkpoint
