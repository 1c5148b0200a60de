#include "capstan/tensor/npy.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "capstan/base/error.h"
#include "tensor/npy_files.h"
#include "tensor/npy_header.h"
#include "tensor/storage.h"
#include "tensor/string_literal.h"
#include "tensor/type_switch.h"
#include "tensor/zip_archive.h"

namespace capstan {
namespace {

constexpr std::string_view kSuffix = ".npy";

/// Runs `work` and puts `source` in front of its errors.
template <class Work>
auto naming(std::string_view source, Work&& work) {
  try {
    return work();
  } catch (Error& error) {
    error.add_context(source);
    throw;
  } catch (const std::bad_alloc&) {
    throw ResourceExhausted(std::string(source) + ": out of memory");
  }
}

DType dtype_of_header(const NpyHeader& header) {
  const auto is = [&](char kind, std::size_t size) { return header.kind == kind && header.item_size == size; };
  if (header.kind == 'S' || header.kind == 'U') return DType::string;
  if (is('b', 1)) return DType::boolean;
  if (is('V', 2)) return DType::bfloat16;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const char kind = is_signed_integer(dtype)     ? 'i'
                      : is_unsigned_integer(dtype) ? 'u'
                      : is_complex(dtype)          ? 'c'
                      : is_floating(dtype)         ? 'f'
                                                   : ' ';
    if (is(kind, dtype_size(dtype)) && dtype != DType::bfloat16) return dtype;
  }
  throw Unimplemented(std::string("NumPy's type '") + header.kind + std::to_string(header.item_size) +
                      "' has no tensor type; convert it with astype first");
}

std::string type_text(DType dtype, std::size_t string_size) {
  if (dtype == DType::string) return "|S" + std::to_string(string_size);
  if (dtype == DType::boolean) return "|b1";
  if (dtype == DType::bfloat16) return "<V2";
  const char kind = is_signed_integer(dtype) ? 'i' : is_unsigned_integer(dtype) ? 'u' : is_complex(dtype) ? 'c' : 'f';
  const std::size_t size = dtype_size(dtype);
  return (size == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(size);
}

/// Where the elements of a tensor stand in a file: `visit(element, position)` in the tensor's order.
template <class Visit>
void walk_positions(const NpyHeader& header, std::int64_t count, Visit&& visit) {
  if (count == 0) return;  // beside a 0 the other dimensions may be so large that their product overflows
  if (!header.is_fortran_order || header.shape.rank() < 2) {
    for (std::int64_t i = 0; i < count; ++i) visit(i, i);
    return;
  }
  const auto rank = static_cast<std::size_t>(header.shape.rank());
  const auto dims = header.shape.dims();
  std::vector<std::int64_t> strides(rank, 1), index(rank, 0);
  for (std::size_t axis = 1; axis < rank; ++axis) strides[axis] = strides[axis - 1] * dims[axis - 1];
  for (std::int64_t i = 0, position = 0; i < count; ++i) {
    visit(i, position);
    for (std::size_t axis = rank; axis-- > 0;) {
      position += strides[axis];
      if (++index[axis] < dims[axis]) break;
      position -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

void read_numbers(const NpyHeader& header, const std::byte* from, Tensor& tensor) {
  auto* to = static_cast<std::byte*>(mutable_data(tensor));
  const std::size_t size = header.item_size;
  if (header.is_fortran_order && tensor.rank() > 1)
    walk_positions(header, tensor.size(), [&](std::int64_t i, std::int64_t at) {
      std::memcpy(to + static_cast<std::size_t>(i) * size, from + static_cast<std::size_t>(at) * size, size);
    });
  else if (tensor.size())
    std::memcpy(to, from, static_cast<std::size_t>(tensor.size()) * size);
  const std::size_t part = header.kind == 'c' ? size / 2 : size;
  const std::size_t bytes = static_cast<std::size_t>(tensor.size()) * size;
  if (header.byte_order == '>' && part > 1)
    for (std::size_t at = 0; at < bytes; at += part) std::reverse(to + at, to + at + part);
  if (header.kind == 'b')  // a bool in memory is 0 or 1, whatever the file says
    for (std::size_t at = 0; at < bytes; ++at) to[at] = std::byte{to[at] != std::byte{0}};
}

std::string read_bytes(const std::byte* from, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(from), size);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string read_unicode(const std::byte* from, std::size_t size, bool is_big_endian) {
  std::string text;
  std::size_t length = 0;  // without the zeros at the end
  for (std::size_t at = 0; at < size; at += 4) {
    char32_t code = 0;
    for (std::size_t i = 0; i < 4; ++i)
      code |= static_cast<char32_t>(from[at + i]) << (8 * (is_big_endian ? 3 - i : i));
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
      throw DataLoss("a text element holds the number " + std::to_string(static_cast<std::uint32_t>(code)) +
                     ", which is no Unicode character");
    append_utf8(text, code);
    if (code) length = text.size();
  }
  text.resize(length);
  return text;
}

void read_strings(const NpyHeader& header, const std::byte* from, Tensor& tensor) {
  auto* to = mutable_values<std::string>(tensor);
  walk_positions(header, tensor.size(), [&](std::int64_t i, std::int64_t at) {
    const std::byte* element = from + static_cast<std::size_t>(at) * header.item_size;
    to[i] = header.kind == 'S' ? read_bytes(element, header.item_size)
                               : read_unicode(element, header.item_size, header.byte_order == '>');
  });
}

Tensor parse_npy(std::span<const std::byte> bytes) {
  const NpyHeader header = parse_npy_header(bytes);
  const DType dtype = dtype_of_header(header);
  const std::int64_t count = header.shape.num_elements();
  const std::size_t left = bytes.size() - header.bytes;
  std::size_t needed = 0;
  const bool is_huge = __builtin_mul_overflow(static_cast<std::size_t>(count), header.item_size, &needed);
  // Before anything is allocated. Elements of no bytes would take memory that no byte of the file stands for.
  if (is_huge || needed != left || (header.item_size == 0 && count > 0))
    throw DataLoss(std::to_string(count) + " elements of " + std::to_string(header.item_size) + " bytes, shape " +
                   header.shape.to_string() + ", do not match the " + std::to_string(left) +
                   " bytes that follow the .npy header");
  Tensor tensor = new_tensor(dtype, header.shape);
  const std::byte* elements = bytes.data() + header.bytes;
  if (dtype == DType::string)
    read_strings(header, elements, tensor);
  else
    read_numbers(header, elements, tensor);
  return tensor;
}

/// A tensor as a file: header and elements, the latter in the tensor's memory where they are plain.
class NpyImage {
 public:
  explicit NpyImage(const Tensor& tensor) : tensor_(tensor) {
    if (tensor.dtype() == DType::resource || tensor.dtype() == DType::variant)
      throw TypeError("a tensor of type " + std::string(dtype_name(tensor.dtype())) + " cannot be saved as .npy");
    std::size_t size = dtype_size(tensor.dtype());
    if (tensor.dtype() == DType::string) size = pack_strings();
    header_ = npy_header(type_text(tensor.dtype(), size), tensor.shape());
    const auto* data = static_cast<const char*>(tensor.raw_data());
    elements_ = tensor.dtype() == DType::string
                    ? std::string_view(strings_)
                    : std::string_view(data, static_cast<std::size_t>(tensor.size()) * size);
  }
  NpyImage(const NpyImage&) = delete;
  NpyImage& operator=(const NpyImage&) = delete;
  std::vector<std::string_view> pieces() const { return {header_, elements_}; }

 private:
  std::size_t pack_strings() {
    std::size_t longest = 1;  // NumPy has no strings of no bytes
    for (const std::string& s : tensor_.values<std::string>()) {
      if (!s.empty() && s.back() == '\0')
        throw InvalidArgument("the string " + string_literal(s) +
                              " ends with a zero byte, which a .npy file cannot keep");
      longest = std::max(longest, s.size());
    }
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(longest, static_cast<std::size_t>(tensor_.size()), &bytes))
      throw ResourceExhausted("the strings, all padded to the longest of " + std::to_string(longest) +
                              " bytes, do not fit into memory");
    strings_.reserve(bytes);
    for (const std::string& s : tensor_.values<std::string>()) {
      strings_ += s;
      strings_.append(longest - s.size(), '\0');
    }
    return longest;
  }

  Tensor tensor_;
  std::string header_, strings_;
  std::string_view elements_;
};

void write_npz(const std::map<std::string, Tensor>& tensors, const ByteSink& sink) {
  ZipWriter writer(sink);
  for (const auto& [name, tensor] : tensors)
    naming("array '" + name + "'", [&] {
      const NpyImage image(tensor);
      writer.add(name + std::string(kSuffix), image.pieces());
    });
  writer.finish();
}

std::map<std::string, Tensor> parse_npz(std::span<const std::byte> bytes) {
  const ZipReader archive(bytes);
  std::map<std::string, Tensor> tensors;
  for (const ZipEntry& entry : archive.entries())
    naming("entry " + string_literal(entry.name), [&] {
      std::string name = entry.name;
      if (!name.ends_with(kSuffix)) throw InvalidArgument("an .npz archive holds only .npy entries");
      name.resize(name.size() - kSuffix.size());
      archive.read(entry, [&](std::span<const std::byte> content) {
        if (!tensors.emplace(name, parse_npy(content)).second) throw DataLoss("the archive holds it twice");
      });
    });
  return tensors;
}

}  // namespace

Tensor npy_from_bytes(std::span<const std::byte> bytes, std::string_view source) {
  return naming(source, [&] { return parse_npy(bytes); });
}

std::string npy_to_bytes(const Tensor& tensor) {
  const NpyImage image(tensor);
  std::string bytes;
  for (std::string_view piece : image.pieces()) bytes += piece;
  return bytes;
}

std::map<std::string, Tensor> npz_from_bytes(std::span<const std::byte> bytes, std::string_view source) {
  return naming(source, [&] { return parse_npz(bytes); });
}

std::string npz_to_bytes(const std::map<std::string, Tensor>& tensors) {
  std::string bytes;
  write_npz(tensors, [&](const void* data, std::size_t size) { bytes.append(static_cast<const char*>(data), size); });
  return bytes;
}

Tensor load_npy(const std::string& path, FileSystem& files) {
  const std::vector<std::byte> bytes = read_bytes(path, files);
  return naming(path, [&] { return parse_npy(bytes); });
}

void save_npy(const std::string& path, const Tensor& tensor, FileSystem& files) {
  const NpyImage image = naming(path, [&] { return NpyImage(tensor); });
  write_file(
      path,
      [&](const FileSink& sink) {
        for (std::string_view piece : image.pieces()) sink(std::as_bytes(std::span(piece)));
      },
      files);
}

std::map<std::string, Tensor> load_npz(const std::string& path, FileSystem& files) {
  const std::vector<std::byte> bytes = read_bytes(path, files);
  return naming(path, [&] { return parse_npz(bytes); });
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors, FileSystem& files) {
  write_file(
      path,
      [&](const FileSink& sink) {
        naming(path, [&] {
          write_npz(tensors, [&](const void* data, std::size_t size) {
            sink(std::span(static_cast<const std::byte*>(data), size));
          });
        });
      },
      files);
}

Tensor load_npy(const std::string& path) { return load_npy(path, FileSystem::system()); }
void save_npy(const std::string& path, const Tensor& tensor) { save_npy(path, tensor, FileSystem::system()); }
std::map<std::string, Tensor> load_npz(const std::string& path) { return load_npz(path, FileSystem::system()); }
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  save_npz(path, tensors, FileSystem::system());
}

}  // namespace capstan
