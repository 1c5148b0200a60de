// Fashion-MNIST: 60,000 small pictures of clothes to train with and 10,000 to test with, in ten classes.
//
//   auto [train, test] = data::fashion_mnist();
#pragma once

#include <string>

#include "capstan/data/dataset.h"

namespace capstan::data {

struct TrainAndTest {
  Dataset<2> train;
  Dataset<2> test;
};

/// Elements are an image, float32 [28,28,1] from 0 to 1, and its label, an int32 scalar from 0 to 9. The pictures stay
/// in memory as bytes and become float32 when they are read. The directory holds the four IDX files under the names
/// they are published with, with or without ".gz". Throws NotFound if one is missing and what `load_idx` throws;
/// DataLoss if they do not fit together.
TrainAndTest fashion_mnist(const std::string& directory = "/usr/share/datasets/fashion-mnist");

}  // namespace capstan::data
