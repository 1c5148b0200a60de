// The interface that users see.
#include "capstan/checkpoint/bundle.h"

#include "checkpoint/bundle.h"

namespace capstan::checkpoint {

std::map<std::string, ListedTensor> list(const std::string& prefix) {
  const BundleReader reader(prefix);
  std::map<std::string, ListedTensor> listed;
  for (const std::string& key : reader.keys()) {
    auto [dtype, shape] = reader.entry(key);
    listed.emplace(key, ListedTensor{dtype, std::move(shape)});
  }
  return listed;
}

std::map<std::string, Tensor> read_bundle(const std::string& prefix) {
  const BundleReader reader(prefix);
  reader.check_total_size();
  std::map<std::string, Tensor> tensors;
  for (const std::string& key : reader.keys()) tensors.emplace(key, reader.read(key));
  return tensors;
}

Tensor read_tensor(const std::string& prefix, const std::string& name) { return BundleReader(prefix).read(name); }

void write_bundle(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  BundleWriter writer(prefix);
  for (const auto& [key, tensor] : tensors) writer.add(key, tensor);
  writer.finish();
}

}  // namespace capstan::checkpoint
