// NumPy's files: `.npy` holds one array, `.npz` is a zip archive of several.
//
//   save_npz("batch.npz", {{"x", x}, {"labels", labels}});
//   Tensor x = load_npz("batch.npz").at("x");
//
// Read: versions 1 to 3, both byte orders, both memory orders, numbers, bool, complex; text ('U') becomes UTF-8 strings
// and bytes ('S') become strings; archives with stored or deflated entries. Written: little-endian, row-major; archives
// with stored entries.
//
// Two types have no NumPy name. bfloat16 is written as 'V2', two bytes without a meaning, as Python's ml_dtypes does,
// and 'V2' is read as bfloat16. Strings are bytes in TensorFlow and are written as such ('S'); that type cannot hold a
// string with a zero byte at its end, which is refused.
//
// Errors name the file: NotFound, PermissionDenied, ResourceExhausted, FailedPrecondition (a directory) and Unavailable
// for what the system says; InvalidArgument for a file of another kind; DataLoss for one that is cut short or damaged;
// Unimplemented for Python objects, records, dates and other types that tensors do not have. No file, however damaged,
// makes the library allocate more than the file's own length allows.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "capstan/tensor/tensor.h"

namespace capstan {

Tensor load_npy(const std::string& path);
/// The file appears under its name when it is complete and on the disk; several threads and processes may save under
/// one name, and one of them wins. A pipe or device is written into. Throws TypeError for resources and variants.
void save_npy(const std::string& path, const Tensor& tensor);

/// All arrays of an archive by name.
std::map<std::string, Tensor> load_npz(const std::string& path);
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

/// The same from and to memory. `source` stands for the path in error messages.
Tensor npy_from_bytes(std::span<const std::byte> bytes, std::string_view source = "npy data");
std::string npy_to_bytes(const Tensor& tensor);
std::map<std::string, Tensor> npz_from_bytes(std::span<const std::byte> bytes, std::string_view source = "npz data");
std::string npz_to_bytes(const std::map<std::string, Tensor>& tensors);

}  // namespace capstan
