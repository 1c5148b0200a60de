// Decompression of Snappy's raw format: TensorFlow compresses the index blocks of merged checkpoints with it.
#pragma once

#include <string>
#include <string_view>

namespace capstan::checkpoint {

/// Throws DataLoss if the bytes are not such data. The result's memory is bounded by a multiple of the input's.
std::string snappy_decompress(std::string_view compressed);

}  // namespace capstan::checkpoint
