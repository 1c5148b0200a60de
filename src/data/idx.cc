#include "capstan/data/idx.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "base/file.h"
#include "capstan/base/error.h"
#include "data/gzip.h"
#include "tensor/storage.h"

namespace capstan::data {
namespace {

constexpr unsigned kMaxRank = 254;  // of a shape

/// The bytes of a file in order, as they are on the disk.
class PlainReader {
 public:
  explicit PlainReader(const ReadableFile& file) : file_(file) {}
  std::uint64_t most_bytes() const { return file_.size(); }
  std::size_t read(std::span<std::byte> to) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), file_.size() - offset_));
    if (count) file_.read_at(offset_, to.first(count));
    offset_ += count;
    return count;
  }

 private:
  const ReadableFile& file_;
  std::uint64_t offset_ = 0;
};

template <class Reader>
void read_all(Reader& reader, std::span<std::byte> to, const char* what) {
  const std::size_t count = reader.read(to);
  if (count < to.size())
    throw OutOfRange("the IDX file is cut short: " + std::to_string(to.size()) + " bytes of " + what +
                     " are announced, " + std::to_string(count) + " are there");
}

DType dtype_of_code(unsigned code) {
  switch (code) {
    case 0x08:
      return DType::uint8;
    case 0x09:
      return DType::int8;
    case 0x0b:
      return DType::int16;
    case 0x0c:
      return DType::int32;
    case 0x0d:
      return DType::float32;
    case 0x0e:
      return DType::float64;
    default:
      throw DataLoss("the IDX header names the element type " + std::to_string(code) + ", which does not exist");
  }
}

/// Bytes that the header announces. The product counts axes of size 0 as 1: then it bounds every partial product, and
/// the shape is safe to compute with even if it holds nothing.
std::uint64_t announced_bytes(const Shape& shape, DType dtype) {
  std::uint64_t product = dtype_size(dtype);
  bool is_empty = false;
  for (const std::int64_t size : shape.dims()) {
    is_empty |= size == 0;
    if (__builtin_mul_overflow(product, std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 1), &product) ||
        product > INT64_MAX)
      throw DataLoss("the IDX header announces a shape that no file can hold: " + shape.to_string());
  }
  return is_empty ? 0 : product;
}

void swap_bytes(std::span<std::byte> bytes, std::size_t size) {
  if (size > 1)
    for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(size))
      std::reverse(at, at + static_cast<std::ptrdiff_t>(size));
}

template <class Reader>
Shape read_shape(Reader& reader, unsigned rank) {
  std::array<std::byte, 4 * kMaxRank> bytes;
  read_all(reader, std::span(bytes).first(4 * std::size_t{rank}), "header");
  Shape shape{};
  for (unsigned axis = 0; axis < rank; ++axis) {
    std::int64_t size = 0;
    for (unsigned i = 0; i < 4; ++i) size = size << 8 | std::to_integer<std::int64_t>(bytes[4 * axis + i]);
    shape.push_back(size);
  }
  return shape;
}

template <class Reader>
Tensor read_idx(Reader& reader) {
  std::array<std::byte, 4> magic;
  read_all(reader, magic, "header");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    throw DataLoss("this is no IDX file: it does not begin with two zero bytes");
  const DType dtype = dtype_of_code(std::to_integer<unsigned>(magic[2]));
  const auto rank = std::to_integer<unsigned>(magic[3]);
  if (rank > kMaxRank) throw DataLoss("the IDX header announces 255 axes; tensors have at most 254");
  const Shape shape = read_shape(reader, rank);
  const std::uint64_t bytes = announced_bytes(shape, dtype);
  if (bytes > reader.most_bytes())  // before anything is allocated
    throw OutOfRange("the IDX file is cut short: its header announces shape " + shape.to_string() + ", " +
                     std::to_string(bytes) + " bytes, and no more than " + std::to_string(reader.most_bytes()) +
                     " can be there");
  Tensor tensor = new_tensor(dtype, shape);
  const std::span elements(static_cast<std::byte*>(mutable_data(tensor)), bytes);
  read_all(reader, elements, "elements");
  std::byte more;
  if (reader.read({&more, 1}) > 0)
    throw DataLoss("more bytes follow the " + std::to_string(bytes) + " that the IDX header announces for shape " +
                   shape.to_string());
  swap_bytes(elements, dtype_size(dtype));
  return tensor;
}

Tensor read_packed(const ReadableFile& file) {
  std::string packed(file.size(), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(packed)));
  GzipReader reader(std::as_bytes(std::span(packed)));
  return read_idx(reader);
}

}  // namespace

Tensor load_idx(const std::string& path) {
  const ReadableFile file(path);
  try {
    std::array<std::byte, 2> start{};
    PlainReader beginning(file);
    if (beginning.read(start) == 2 && is_gzip(start)) return read_packed(file);
    PlainReader reader(file);
    return read_idx(reader);
  } catch (Error& error) {
    error.add_context("load_idx '" + path + "'");
    throw;
  } catch (const std::bad_alloc&) {
    throw ResourceExhausted("load_idx '" + path + "': out of memory");
  }
}

}  // namespace capstan::data
