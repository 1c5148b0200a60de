#include "golden_rows.h"

#include <zlib.h>

#include <cstring>
#include <stdexcept>

#include "tensor/storage.h"

namespace capstan::conformance {
namespace {

std::string inflate_file(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string all;
  char chunk[1 << 16];
  for (int n; (n = gzread(file, chunk, sizeof chunk)) > 0;) all.append(chunk, static_cast<std::size_t>(n));
  gzclose(file);
  return all;
}

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::string text() {
    const auto length = number<std::uint32_t>();
    return {take(length), length};
  }
  Shape shape(int rank) {
    std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
    for (auto& size : dims) size = number<std::int64_t>();
    return Shape(dims);
  }
  Shape partial_shape() {
    const int rank = number<std::int8_t>();
    return rank < 0 ? Shape::unknown() : shape(rank);
  }
  Tensor tensor() {
    const auto dtype = static_cast<DType>(number<std::uint8_t>());
    if (dtype == DType::invalid) return {};
    const int rank = number<std::uint8_t>();
    Tensor result = new_tensor(dtype, shape(rank));
    if (dtype == DType::string) {
      for (std::int64_t i = 0; i < result.size(); ++i) mutable_values<std::string>(result)[i] = text();
    } else {
      const std::size_t bytes = static_cast<std::size_t>(result.size()) * dtype_size(dtype);
      std::memcpy(mutable_data(result), take(bytes), bytes);
    }
    return result;
  }
  std::vector<Tensor> tensors() {
    std::vector<Tensor> all(number<std::uint32_t>());
    for (Tensor& each : all) each = tensor();
    return all;
  }
  AttributeValue attribute() {
    switch (number<std::uint8_t>()) {
      case 1:
        return number<std::int64_t>();
      case 2:
        return number<float>();
      case 3:
        return number<std::uint8_t>() != 0;
      case 4:
        return text();
      case 5:
        return static_cast<DType>(number<std::uint8_t>());
      case 6:
        return partial_shape();
      case 7:
        return tensor();
      case 8:
        return numbers<std::int64_t>();
      case 9:
        return numbers<float>();
      default:
        throw std::runtime_error("golden row: unknown attribute kind");
    }
  }

 private:
  template <class T>
  std::vector<T> numbers() {
    std::vector<T> values(number<std::uint32_t>());
    for (T& value : values) value = number<T>();
    return values;
  }
  const char* take(std::size_t count) {
    if (bytes_.size() - at_ < count) throw std::runtime_error("golden rows: the file ends too early");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

std::optional<GoldenGradients> read_gradients(Reader& in) {
  const auto kind = in.number<std::uint8_t>();
  if (kind == 0) return std::nullopt;
  GoldenGradients gradients;
  gradients.is_registered = kind == 2;
  if (kind == 1) return gradients;
  gradients.check_finite = in.number<std::uint8_t>() != 0;
  gradients.seeds = in.tensors();
  gradients.first = in.tensors();
  gradients.has_second = in.number<std::uint8_t>() != 0;
  if (gradients.has_second) {
    gradients.second_seeds = in.tensors();
    gradients.second = in.tensors();
  }
  return gradients;
}

GoldenRow read_row(Reader& in) {
  GoldenRow row;
  row.op = in.text();
  row.name = in.text();
  for (auto count = in.number<std::uint32_t>(); count > 0; --count) {
    std::string key = in.text();
    row.attributes.emplace(std::move(key), in.attribute());
  }
  row.inputs = in.tensors();
  if (in.number<std::uint8_t>() == 1) {
    row.error = in.text();
    row.mentions = in.text();
    return row;
  }
  row.rtol = in.number<float>();
  row.atol = in.number<float>();
  row.outputs = in.tensors();
  row.gradients = read_gradients(in);
  for (auto& shapes : row.inferred)
    if (in.number<std::uint8_t>() != 0)
      for (std::size_t i = 0; i < row.outputs.size(); ++i) shapes.push_back(in.partial_shape());
  return row;
}

}  // namespace

std::vector<GoldenRow> read_golden_rows(const std::string& path) {
  Reader in(inflate_file(path));
  if (in.number<std::uint32_t>() != 0x47504143) throw std::runtime_error(path + " is not a file of golden rows");
  std::vector<GoldenRow> rows(in.number<std::uint32_t>());
  for (GoldenRow& row : rows) row = read_row(in);
  return rows;
}

}  // namespace capstan::conformance
