#include "checkpoint/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "capstan/base/error.h"
#include "checkpoint/format.h"
#include "tensor/storage.h"

namespace capstan::checkpoint {
namespace {

/// Strings that sort as their bytes do: an inner zero and 255 are marked, and an end mark follows.
void put_ordered(std::string& out, std::string_view text) {
  for (char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out.append("\0\1", 2);
}

void put_ordered(std::string& out, std::uint64_t value) {
  std::string digits;
  for (; value; value >>= 8) digits.insert(digits.begin(), static_cast<char>(value));
  out += static_cast<char>(digits.size());
  out += digits;
}

/// The number's low bytes, big endian; as many leading ones (for negative numbers zeros) as there are bytes tell the
/// length.
void put_ordered(std::string& out, std::int64_t value) {
  const std::uint64_t magnitude = value < 0 ? ~static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  unsigned length = 1;
  while (length < 10 && magnitude >> (7 * length - 1)) ++length;
  unsigned char bytes[10];
  for (unsigned i = 0; i < 10; ++i) {
    const unsigned shift = 8 * (9 - i);
    bytes[i] = static_cast<unsigned char>(shift >= 64 ? value >> 63 : value >> shift);
  }
  unsigned char* first = bytes + (10 - length);
  first[0] ^= length >= 8 ? 0xff : static_cast<unsigned char>(0xff00u >> length);
  if (length > 8) first[1] ^= static_cast<unsigned char>(0xff00u >> (length - 8));
  out.append(reinterpret_cast<const char*>(first), length);
}

[[noreturn]] void refuse(std::size_t axis, std::int64_t start, std::int64_t length, const Shape& full) {
  throw InvalidArgument(
      fmt::format("Extent in dimension {} out of bounds: start {}, length {}, the tensor's shape is {}", axis, start,
                  length, full.to_string()));
}

/// Row-major distances between neighbours, in elements.
std::vector<std::int64_t> strides_of(const Region& region) {
  std::vector<std::int64_t> strides(region.lengths.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * region.lengths[i];
  return strides;
}

void copy_elements(DType dtype, const void* source, std::int64_t from, void* target, std::int64_t to,
                   std::int64_t count) {
  if (dtype == DType::string) {
    std::copy_n(static_cast<const std::string*>(source) + from, count, static_cast<std::string*>(target) + to);
    return;
  }
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  std::memcpy(static_cast<char*>(target) + to * size, static_cast<const char*>(source) + from * size,
              static_cast<std::size_t>(count * size));
}

/// Steps through all rows (the innermost dimension) of a box.
class RowCounter {
 public:
  explicit RowCounter(const Region& region) : region_(region), at_(region.starts) {}

  std::int64_t offset_in(const Region& outer, const std::vector<std::int64_t>& strides) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at_.size(); ++i) offset += (at_[i] - outer.starts[i]) * strides[i];
    return offset;
  }
  bool next() {
    for (std::size_t i = at_.size() - (at_.empty() ? 0 : 1); i-- > 0;) {
      if (++at_[i] < region_.starts[i] + region_.lengths[i]) return true;
      at_[i] = region_.starts[i];
    }
    return false;
  }

 private:
  const Region& region_;
  std::vector<std::int64_t> at_;
};

}  // namespace

std::int64_t Region::num_elements() const { return shape().num_elements(); }

std::string Region::to_string() const {
  std::string out;
  for (std::size_t i = 0; i < starts.size(); ++i) out += fmt::format("{}{},{}", i ? ":" : "", starts[i], lengths[i]);
  return out;
}

std::string slice_key(std::string_view tensor_name, const wire::TensorSliceProto& slice) {
  std::string key(1, kSliceKeyMark);
  put_ordered(key, tensor_name);
  put_ordered(key, static_cast<std::uint64_t>(slice.extents.size()));
  for (const auto& extent : slice.extents) {
    put_ordered(key, extent.start);
    put_ordered(key, extent.length.value_or(-1));
  }
  return key;
}

Region region_of(const wire::TensorSliceProto& slice, const Shape& full) {
  const auto dims = full.dims();
  if (slice.extents.size() != dims.size())
    throw InvalidArgument(fmt::format("Mismatching ranks: a slice of {} dimensions, the tensor's shape is {}",
                                      slice.extents.size(), full.to_string()));
  Region region;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto& extent = slice.extents[i];
    const std::int64_t length = extent.length.value_or(dims[i]);
    const bool is_inside =
        extent.start >= 0 && length >= 0 && extent.start <= dims[i] && length <= dims[i] - extent.start;
    if (!is_inside) refuse(i, extent.start, length, full);
    region.starts.push_back(extent.start);
    region.lengths.push_back(length);
  }
  return region;
}

wire::TensorSliceProto to_slice(const Region& region, const Shape& full, bool name_whole_dimensions) {
  wire::TensorSliceProto slice;
  for (std::size_t i = 0; i < region.starts.size(); ++i) {
    const bool is_whole = region.lengths[i] == full.dims()[i];
    if (is_whole && name_whole_dimensions)
      slice.extents.push_back({});
    else
      slice.extents.push_back({region.starts[i], region.lengths[i]});
  }
  return slice;
}

Region whole_of(const Shape& full) {
  return {std::vector<std::int64_t>(full.dims().size(), 0), {full.dims().begin(), full.dims().end()}};
}

bool overlap(const Region& a, const Region& b) {
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    const std::int64_t start = std::max(a.starts[i], b.starts[i]);
    if (start >= std::min(a.starts[i] + a.lengths[i], b.starts[i] + b.lengths[i])) return false;
  }
  return true;
}

Region intersection(const Region& a, const Region& b) {
  Region both;
  for (std::size_t i = 0; i < a.starts.size(); ++i) {
    const std::int64_t start = std::max(a.starts[i], b.starts[i]);
    const std::int64_t end = std::min(a.starts[i] + a.lengths[i], b.starts[i] + b.lengths[i]);
    both.starts.push_back(start);
    both.lengths.push_back(std::max<std::int64_t>(0, end - start));
  }
  return both;
}

void copy_region(const Region& part, const Tensor& source, const Region& from, Tensor& target, const Region& to) {
  if (part.num_elements() == 0) return;
  const auto from_strides = strides_of(from);
  const auto to_strides = strides_of(to);
  const std::int64_t row = part.lengths.empty() ? 1 : part.lengths.back();
  RowCounter counter(part);
  do {
    copy_elements(source.dtype(), source.raw_data(), counter.offset_in(from, from_strides), mutable_data(target),
                  counter.offset_in(to, to_strides), row);
  } while (counter.next());
}

}  // namespace capstan::checkpoint
