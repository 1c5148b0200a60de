// The functions of capstan/tensor/npy.h on a given file system: for tests, which let its calls fail.
#pragma once

#include <map>
#include <string>

#include "base/file.h"
#include "capstan/tensor/npy.h"

namespace capstan {

Tensor load_npy(const std::string& path, FileSystem& files);
void save_npy(const std::string& path, const Tensor& tensor, FileSystem& files);
std::map<std::string, Tensor> load_npz(const std::string& path, FileSystem& files);
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors, FileSystem& files);

}  // namespace capstan
