#include "capstan/data/fashion_mnist.h"

#include <algorithm>

#include "base/file.h"
#include "capstan/base/error.h"
#include "capstan/data/idx.h"
#include "data/columns.h"
#include "tensor/storage.h"

namespace capstan::data {
namespace {

constexpr std::int64_t kSide = 28;
constexpr int kClasses = 10;

std::string find_file(const std::string& directory, const std::string& name) {
  for (const char* suffix : {".gz", ""})
    if (std::string path = join_path(directory, name + suffix); path_exists(path)) return path;
  throw NotFound("fashion_mnist: there is no " + name + ".gz in '" + directory +
                 "'; install the data with `apt-get install dataset-fashion-mnist`, or give the directory that holds "
                 "them");
}

Tensor load_images(const std::string& path) {
  const Tensor images = load_idx(path);
  const Shape& shape = images.shape();
  if (images.dtype() != DType::uint8 || shape.rank() != 3 || shape[1] != kSide || shape[2] != kSide)
    throw DataLoss("fashion_mnist: the images in '" + path + "' must be uint8 [?,28,28], got " +
                   std::string(dtype_name(images.dtype())) + " " + shape.to_string());
  return share_elements(images, Shape{shape[0], kSide, kSide, 1});
}

Tensor load_labels(const std::string& path, std::int64_t count) {
  const Tensor bytes = load_idx(path);
  if (bytes.dtype() != DType::uint8 || bytes.shape() != Shape{count})
    throw DataLoss("fashion_mnist: the labels in '" + path + "' must be uint8 [" + std::to_string(count) +
                   "], one for each image, got " + std::string(dtype_name(bytes.dtype())) + " " +
                   bytes.shape().to_string());
  Tensor labels = new_tensor(DType::int32, bytes.shape());
  const auto values = bytes.values<std::uint8_t>();
  if (std::any_of(values.begin(), values.end(), [](int label) { return label >= kClasses; }))
    throw DataLoss("fashion_mnist: '" + path + "' holds a label above 9");
  std::copy(values.begin(), values.end(), mutable_values<std::int32_t>(labels));
  return labels;
}

Dataset<2> load_part(const std::string& directory, const std::string& part) {
  const Tensor images = load_images(find_file(directory, part + "-images-idx3-ubyte"));
  const Tensor labels = load_labels(find_file(directory, part + "-labels-idx1-ubyte"), images.dim(0));
  return Dataset<2>(detail::pipeline_of({detail::Column::scaled_bytes(images), detail::Column(labels)}));
}

}  // namespace

TrainAndTest fashion_mnist(const std::string& directory) {
  return {.train = load_part(directory, "train"), .test = load_part(directory, "t10k")};
}

}  // namespace capstan::data
