#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capstan/base/error.h"
#include "checkpoint/bundle.h"
#include "checkpoint/bundle_data.h"
#include "checkpoint/table.h"
#include "tensor/storage.h"

namespace capstan::checkpoint {
namespace {

constexpr int kMostShardsKeptOpen = 64;
constexpr int kMostLoadTries = 10;

/// People pass the name of one of the files; say which prefix was meant.
std::string hint_for(const std::string& prefix) {
  const std::size_t suffix = prefix.ends_with(".index") ? prefix.size() - 6 : prefix.rfind(".data-");
  if (suffix == std::string::npos)
    return "; a checkpoint is named by the prefix of its files, with a suffix such as '-1' if it has one";
  return fmt::format("; a checkpoint is named by its prefix, try '{}'", prefix.substr(0, suffix));
}

/// The library's element type of a number in a file.
DType known_dtype(std::int32_t number, std::string_view key) {
  const auto dtype = static_cast<DType>(number);
  if (number <= 0 || number >= kDTypeCount || dtype_name(dtype).empty())
    throw Unimplemented(
        fmt::format("the tensor '{}' has the element type number {}, which is not supported", key, number));
  return dtype;
}

/// Adds up what tensors take in each data file: those that a bundle's writer made do not overlap, so a sum beyond the
/// file's length is damage, and would ask for more memory than the file can fill.
class SizeSum {
 public:
  explicit SizeSum(const std::string& prefix) : prefix_(prefix) {}
  void add(std::string_view tensor, const BundleEntry& entry, std::uint64_t file_size) {
    std::uint64_t& taken = taken_[entry.proto.shard_id];
    const auto size = static_cast<std::uint64_t>(entry.proto.size);
    if (taken > file_size || size > file_size - taken)
      throw DataLoss(
          fmt::format("'{}': the tensors up to '{}' take more bytes of data file {} than the {} that it has: some of "
                      "them overlap",
                      prefix_, tensor, entry.proto.shard_id, file_size));
    taken += size;
  }

 private:
  const std::string& prefix_;
  std::map<int, std::uint64_t> taken_;
};

}  // namespace

BundleReader::BundleReader(std::string prefix, FileSystem& files) : prefix_(std::move(prefix)), files_(files) {
  // A writer may put a new bundle in place between our looks at the index and at the data: then look again.
  for (int tries = 0; tries < kMostLoadTries; ++tries) {
    const FileStatus read = load();
    FileStatus now;
    if (files_.status(index_path(prefix_), now) < 0 || now == read) return;
  }
}

BundleReader::~BundleReader() = default;

FileStatus BundleReader::load() {
  std::optional<ReadableFile> index;
  try {
    index.emplace(index_path(prefix_), files_);
  } catch (const NotFound& error) {
    throw NotFound(error.message() + hint_for(prefix_));
  }
  records_.clear();
  shards_.clear();
  read_index(*index);
  open_shards();
  return index->status();
}

void BundleReader::read_index(const ReadableFile& file) {
  TableReader(file).scan([&](std::string_view key, std::string_view value) { records_.emplace_back(key, value); });
  if (records_.empty() || !records_.front().first.empty())
    throw DataLoss(
        fmt::format("'{}': failed to seek to header entry. Perhaps the file is corrupt or was produced by a "
                    "newer version",
                    file.path()));
  try {
    header_ = wire::decode_bundle_header(records_.front().second);
  } catch (const DataLoss& error) {
    throw DataLoss(fmt::format("'{}': unable to parse header: {}", file.path(), error.message()));
  }
  records_.erase(records_.begin());
  check_header();
}

void BundleReader::check_header() const {
  const wire::VersionDef& version = header_.version;
  const std::string place = fmt::format("'{}'", index_path(prefix_));
  if (version.min_consumer > kBundleVersion)
    throw InvalidArgument(
        fmt::format("{}: Checkpoint min consumer version {} above current version {} for TensorFlow: "
                    "the file was written by a newer version",
                    place, version.min_consumer, kBundleVersion));
  if (version.producer < kBundleMinProducer)
    throw InvalidArgument(
        fmt::format("{}: Checkpoint producer version {} below min producer {} supported by TensorFlow", place,
                    version.producer, kBundleMinProducer));
  if (std::ranges::count(version.bad_consumers, kBundleVersion))
    throw InvalidArgument(
        fmt::format("{}: Checkpoint disallows consumer version {}. Please upgrade TensorFlow: this "
                    "version is likely buggy.",
                    place, kBundleVersion));
  const int endianness = static_cast<int>(header_.endianness);
  if (endianness != 0 && endianness != 1)
    throw DataLoss(fmt::format("{}: unable to parse header: there is no byte order {}", place, endianness));
  if (header_.num_shards < 0)
    throw DataLoss(fmt::format("{}: unable to parse header: {} shards", place, header_.num_shards));
}

void BundleReader::open_shards() {
  for (const auto& [key, value] : records_) {
    if (shards_.size() >= kMostShardsKeptOpen) return;
    try {
      const auto entry = wire::decode_bundle_entry(value);
      if (entry.slices.empty()) shard(entry.shard_id);
    } catch (const Error&) {  // an error of those who ask for this tensor
    }
  }
}

const std::string* BundleReader::find(std::string_view key) const {
  const auto found =
      std::ranges::lower_bound(records_, key, {}, [](const auto& record) { return std::string_view(record.first); });
  return found != records_.end() && found->first == key ? &found->second : nullptr;
}

std::vector<std::string> BundleReader::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : records_)
    if (key.front() != kSliceKeyMark) names.push_back(key);
  return names;
}

bool BundleReader::contains(std::string_view key) const {
  return !key.empty() && key.front() != kSliceKeyMark && find(key) != nullptr;
}

BundleEntry BundleReader::entry_of(std::string_view key) const {
  const std::string* record = find(key);
  if (!record) throw NotFound(fmt::format("'{}': Key {} not found in checkpoint", prefix_, key));
  BundleEntry entry{std::string(key), {}, {}, {}};
  try {
    entry.proto = wire::decode_bundle_entry(*record);
  } catch (const DataLoss& error) {
    throw DataLoss(fmt::format("'{}': Entry for key {} not parseable: {}", prefix_, key, error.message()));
  }
  try {
    entry.shape = wire::to_shape(entry.proto.shape);
  } catch (const DataLoss& error) {
    throw DataLoss(fmt::format("'{}': Invalid tensor shape: {}: {}", prefix_, key, error.message()));
  }
  if (!entry.shape.is_fully_known())
    throw DataLoss(
        fmt::format("'{}': Invalid tensor shape: {}: {} is not a known one", prefix_, key, entry.shape.to_string()));
  entry.dtype = known_dtype(entry.proto.dtype, key);
  return entry;
}

std::pair<DType, Shape> BundleReader::entry(std::string_view key) const {
  BundleEntry entry = entry_of(key);
  return {entry.dtype, std::move(entry.shape)};
}

BundleReader::Shard BundleReader::shard(int id) const {
  const std::lock_guard lock(mutex_);
  if (const auto open = shards_.find(id); open != shards_.end()) {
    open->second.last_use = ++uses_;
    return open->second.file;
  }
  auto file = std::make_shared<const ReadableFile>(data_path(prefix_, id, header_.num_shards), files_);
  if (shards_.size() >= kMostShardsKeptOpen)
    shards_.erase(std::ranges::min_element(shards_, {}, [](const auto& one) { return one.second.last_use; }));
  shards_.emplace(id, OpenShard{file, ++uses_});
  return file;
}

void BundleReader::check_total_size() const {
  SizeSum sum(prefix_);
  for (const std::string& key : keys()) {
    const BundleEntry entry = entry_of(key);
    const bool is_read = entry.dtype != DType::resource && entry.dtype != DType::variant;
    if (is_read && entry.proto.slices.empty()) sum.add(key, entry, data_file(entry)->size());
  }
}

BundleReader::Shard BundleReader::data_file(const BundleEntry& entry) const {
  const auto& [key, proto, dtype, shape] = entry;
  const auto count = static_cast<std::uint64_t>(shape.num_elements());
  const auto stored = static_cast<std::uint64_t>(proto.size);
  const bool is_string = dtype == DType::string;
  std::uint64_t expected = 0;
  const bool is_countable = !__builtin_mul_overflow(count, is_string ? 1 : dtype_size(dtype), &expected);
  if (proto.offset < 0 || proto.size < 0 || !is_countable || (is_string ? stored < expected : stored != expected))
    throw DataLoss(fmt::format("'{}': Invalid size in bundle entry: key {}; stored size {} at {}; expected size {}{}",
                               prefix_, key, proto.size, proto.offset, is_string ? "is at least " : "", expected));
  Shard file = shard(proto.shard_id);
  const auto offset = static_cast<std::uint64_t>(proto.offset);
  if (offset > file->size() || stored > file->size() - offset)
    throw OutOfRange(
        fmt::format("'{}': the tensor '{}' has {} bytes from {} on, but the file ends at {}; it may be cut "
                    "short",
                    file->path(), key, stored, offset, file->size()));
  return file;
}

Tensor BundleReader::read_whole(const BundleEntry& entry) const {
  if (entry.dtype == DType::resource || entry.dtype == DType::variant)
    throw Unimplemented(fmt::format("'{}': the tensor '{}' is of type {}, which cannot be read", prefix_, entry.key,
                                    dtype_name(entry.dtype)));
  const Shard file = data_file(entry);
  const bool swap = header_.endianness == wire::BundleHeaderProto::Endianness::big;
  return entry.dtype == DType::string ? read_strings(entry, *file, swap) : read_elements(entry, *file, swap);
}

Tensor BundleReader::read(std::string_view key) const {
  const BundleEntry entry = entry_of(key);
  return entry.proto.slices.empty() ? read_whole(entry) : gather(entry, whole_of(entry.shape));
}

Tensor BundleReader::read_slice(std::string_view key, const wire::TensorSliceProto& slice) const {
  const BundleEntry entry = entry_of(key);
  const Region wanted = region_of(slice, entry.shape);
  if (!entry.proto.slices.empty()) return gather(entry, wanted);
  const Tensor whole = read_whole(entry);
  Tensor part = new_tensor(entry.dtype, wanted.shape());
  copy_region(wanted, whole, whole_of(entry.shape), part, wanted);
  return part;
}

/// The key that a part is stored under. It may spell the same box in another way than the list of parts does.
std::string BundleReader::part_key(const BundleEntry& entry, const wire::TensorSliceProto& slice) const {
  const Region region = region_of(slice, entry.shape);
  for (const auto& spelling : {slice, to_slice(region, entry.shape, true), to_slice(region, entry.shape, false)}) {
    std::string key = slice_key(entry.key, spelling);
    if (find(key)) return key;
  }
  throw DataLoss(
      fmt::format("'{}': the part {} of the tensor '{}' has no entry", prefix_, region.to_string(), entry.key));
}

std::vector<BundleReader::Part> BundleReader::parts_of(const BundleEntry& entry) const {
  std::vector<Part> parts;
  for (const auto& slice : entry.proto.slices) {
    Region region;
    try {
      region = region_of(slice, entry.shape);
    } catch (const InvalidArgument& error) {
      throw DataLoss(fmt::format("'{}': the parts of the tensor '{}': {}", prefix_, entry.key, error.message()));
    }
    parts.push_back({slice, std::move(region)});
  }
  check_disjoint(entry, parts);
  return parts;
}

/// Parts are compared with those only that begin before they end, along the axis on which most of them begin apart.
void BundleReader::check_disjoint(const BundleEntry& entry, const std::vector<Part>& parts) const {
  std::size_t axis = 0, most = 0;
  for (std::size_t i = 0; i < entry.shape.dims().size(); ++i) {
    std::set<std::int64_t> starts;
    for (const Part& part : parts) starts.insert(part.region.starts[i]);
    if (starts.size() > most) most = starts.size(), axis = i;
  }
  std::vector<const Region*> sorted;
  for (const Part& part : parts) sorted.push_back(&part.region);
  const auto start = [&](const Region* region) { return region->starts.empty() ? 0 : region->starts[axis]; };
  const auto end = [&](const Region* region) {
    return region->starts.empty() ? 1 : start(region) + region->lengths[axis];
  };
  std::ranges::stable_sort(sorted, {}, start);
  std::vector<const Region*> reaching;  // those that have begun and not ended
  for (const Region* region : sorted) {
    std::erase_if(reaching, [&](const Region* before) { return end(before) <= start(region); });
    for (const Region* before : reaching)
      if (overlap(*before, *region))
        throw Internal(fmt::format("'{}': the tensor '{}': Overlapping slices: existing slice = {}, new slice = {}",
                                   prefix_, entry.key, before->to_string(), region->to_string()));
    reaching.push_back(region);
  }
}

Tensor BundleReader::gather(const BundleEntry& entry, const Region& wanted) const {
  std::vector<std::pair<BundleEntry, Region>> found;
  SizeSum sizes(prefix_);
  std::int64_t covered = 0;
  for (const Part& part : parts_of(entry)) {
    if (!overlap(part.region, wanted)) continue;
    BundleEntry stored = entry_of(part_key(entry, part.slice));
    if (stored.dtype != entry.dtype || stored.shape != part.region.shape())
      throw DataLoss(fmt::format("'{}': the part {} of the tensor '{}' is {} {}, expected {} {}", prefix_,
                                 part.region.to_string(), entry.key, dtype_name(stored.dtype), stored.shape.to_string(),
                                 dtype_name(entry.dtype), part.region.shape().to_string()));
    if (part.region == wanted) return read_whole(stored);
    sizes.add(entry.key, stored, data_file(stored)->size());  // before memory is taken for the whole
    covered += intersection(part.region, wanted).num_elements();
    found.emplace_back(std::move(stored), part.region);
  }
  if (covered != wanted.num_elements())
    throw InvalidArgument(
        fmt::format("'{}': Does not have sufficient slices for partitioned tensor {} to restore in "
                    "slice_spec {}",
                    prefix_, entry.key, wanted.to_string()));
  Tensor target = new_tensor(entry.dtype, wanted.shape());
  for (const auto& [stored, region] : found)
    copy_region(intersection(region, wanted), read_whole(stored), region, target, wanted);
  return target;
}

}  // namespace capstan::checkpoint
