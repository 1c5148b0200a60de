#include "capstan/data/fashion_mnist.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/test_errors.h"

namespace capstan::data {
namespace {

constexpr const char* kDirectory = "/usr/share/datasets/fashion-mnist";

class FashionMnist : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "capstan-fashion-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& name, const std::string& content) {
    std::ofstream(directory_ + "/" + name, std::ios::binary) << content;
  }
  /// Two pictures for training and two for testing, with these labels.
  void write_small_files(char label, int labels = 2) {
    const auto number = [](int value) { return std::string{0, 0, 0, static_cast<char>(value)}; };
    const auto text = [](std::initializer_list<char> bytes) { return std::string(bytes); };
    for (const char* part : {"train", "t10k"}) {
      std::string pixels(2 * 28 * 28, '\0');
      pixels[1] = '\xff';
      pixels[28 * 28] = '\x33';
      write(part + std::string("-images-idx3-ubyte"),
            text({0, 0, 8, 3}) + number(2) + number(28) + number(28) + pixels);
      write(part + std::string("-labels-idx1-ubyte"),
            text({0, 0, 8, 1}) + number(labels) + std::string(static_cast<std::size_t>(labels), label));
    }
  }

  std::string directory_;
};

std::array<int, 10> label_counts(const Dataset<2>& part) {
  std::array<int, 10> counts{};
  for (auto [images, labels] : part.batch(1000)) {
    EXPECT_EQ(images.shape(), (Shape{1000, 28, 28, 1}));
    for (const std::int32_t label : labels.values<std::int32_t>()) ++counts.at(static_cast<std::size_t>(label));
  }
  return counts;
}

TEST_F(FashionMnist, ReadsThePublishedFiles) {
  if (!std::filesystem::exists(kDirectory)) GTEST_SKIP() << "needs the Debian package dataset-fashion-mnist";
  auto [train, test] = fashion_mnist();
  EXPECT_EQ(train.cardinality(), 60'000);
  EXPECT_EQ(test.cardinality(), 10'000);
  for (const int count : label_counts(train)) EXPECT_EQ(count, 6000);
  for (const int count : label_counts(test)) EXPECT_EQ(count, 1000);
  auto [image, label] = *train.begin();
  EXPECT_EQ(image.shape(), (Shape{28, 28, 1}));
  EXPECT_EQ(label.item<std::int32_t>(), 9);  // an ankle boot
  double sum = 0;
  for (const float pixel : image.values<float>()) {
    EXPECT_TRUE(pixel >= 0 && pixel <= 1);
    sum += 255.0 * pixel;
  }
  EXPECT_NEAR(sum, 76247, 0.01);
}

TEST_F(FashionMnist, ReadsPlainFilesAndScales) {
  write_small_files(7);
  auto [train, test] = fashion_mnist(directory_);
  EXPECT_EQ(train.cardinality(), 2);
  for (auto [images, labels] : test.batch(2)) {
    EXPECT_EQ(images.values<float>()[0], 0.f);
    EXPECT_EQ(images.values<float>()[1], 1.f);
    EXPECT_EQ(images.values<float>()[28 * 28], 0.2f);
    EXPECT_EQ(labels.to_vector<std::int32_t>(), (std::vector<std::int32_t>{7, 7}));
  }
}

TEST_F(FashionMnist, SaysHowToGetTheFiles) {
  const std::string message = message_of<NotFound>([&] { fashion_mnist(directory_); });
  expect_contains(message, directory_);
  expect_contains(message, "apt-get install dataset-fashion-mnist");
}

TEST_F(FashionMnist, RefusesFilesThatDoNotFit) {
  write_small_files(10);
  expect_contains(message_of<DataLoss>([&] { fashion_mnist(directory_); }), "a label above 9");
  write_small_files(7, 3);
  expect_contains(message_of<DataLoss>([&] { fashion_mnist(directory_); }),
                  "must be uint8 [2], one for each image, got uint8 [3]");
  write("train-images-idx3-ubyte", std::string("\0\0\x08\x01\0\0\0\x01"
                                               "a",
                                               9));
  expect_contains(message_of<DataLoss>([&] { fashion_mnist(directory_); }), "must be uint8 [?,28,28], got uint8 [1]");
}

}  // namespace
}  // namespace capstan::data
