// Checkpoint files by name: TensorFlow's tensor bundles, `P.index` and `P.data-?????-of-?????` for a prefix P.
//
//   checkpoint::write_bundle("model/ckpt-1", {{"w", w}, {"b", b}});
//   for (auto& [name, entry] : checkpoint::list("model/ckpt-1")) std::cout << name << ' ' << entry.shape << '\n';
//   Tensor again = checkpoint::read_bundle("model/ckpt-1").at("w");
//
// Functions throw NotFound if there is no such checkpoint, DataLoss or OutOfRange if a file is damaged or cut short,
// Unimplemented for tensors of a type that this library does not have, and what the system says otherwise. They may be
// called from any thread.
#pragma once

#include <map>
#include <string>

#include "capstan/tensor/dtype.h"
#include "capstan/tensor/shape.h"
#include "capstan/tensor/tensor.h"

namespace capstan::checkpoint {

struct ListedTensor {
  DType dtype = DType::invalid;
  Shape shape;
};

/// Names, types and shapes of all tensors; reads the index only.
std::map<std::string, ListedTensor> list(const std::string& prefix);

/// All tensors, with their checksums verified.
std::map<std::string, Tensor> read_bundle(const std::string& prefix);
/// One of them. Throws NotFound for a name that is not there.
Tensor read_tensor(const std::string& prefix, const std::string& name);

/// Writes a checkpoint, with the directories above it. A checkpoint that is there is replaced: after an error or a
/// crash at any moment the prefix holds all of the old one or all of the new one.
void write_bundle(const std::string& prefix, const std::map<std::string, Tensor>& tensors);

}  // namespace capstan::checkpoint
