// IDX files: the arrays in which MNIST and its relatives are distributed.
//
//   Tensor images = data::load_idx("t10k-images-idx3-ubyte.gz");   // uint8, [10000,28,28]
#pragma once

#include <string>

#include "capstan/tensor/tensor.h"

namespace capstan::data {

/// The array of an IDX file, plain or packed with gzip (its first bytes tell). The element types of IDX are uint8,
/// int8, int16, int32, float32 and float64. Throws NotFound if there is no such file, OutOfRange if it is cut short,
/// DataLoss if it is damaged or of another kind; each message names the path.
Tensor load_idx(const std::string& path);

}  // namespace capstan::data
