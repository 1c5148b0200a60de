#include "capstan/tensor/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/memory.h"
#include "capstan/base/error.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

TEST(Tensor, FromMemorySharesAndCallsTheDeleterOnce) {
  alignas(64) std::array<float, 32> numbers{};
  int deletions = 0;
  {
    Tensor tensor = Tensor::from_memory(numbers.data(), DType::float32, {4, 8}, [&](void* data) {
      EXPECT_EQ(data, numbers.data());
      ++deletions;
    });
    EXPECT_EQ(tensor.raw_data(), numbers.data());
    numbers[31] = 7;
    EXPECT_EQ(tensor.values<float>()[31], 7.f);
    const Tensor copy = tensor;
    const Tensor view = share_elements(tensor, {32});
    tensor = Tensor();
    EXPECT_EQ(deletions, 0);
    EXPECT_EQ(view.raw_data(), numbers.data());
    EXPECT_FALSE(is_sole_owner(copy)) << "memory of the user is never written";
  }
  EXPECT_EQ(deletions, 1);
}

TEST(Tensor, FromMemoryIsNeverTakenOver) {
  std::array<int, 4> numbers{1, 2, 3, 4};
  const Tensor tensor = Tensor::from_memory(numbers.data(), DType::int32, {4}, nullptr);
  EXPECT_FALSE(is_sole_owner(tensor));
  EXPECT_EQ(tensor.to_vector<int>(), (std::vector{1, 2, 3, 4}));
}

TEST(Tensor, FromMemoryDeletesOnTheLastThread) {
  std::array<double, 16> numbers{};
  std::thread::id deleted_on;
  Tensor tensor = Tensor::from_memory(numbers.data(), DType::float64, {16},
                                      [&](void*) { deleted_on = std::this_thread::get_id(); });
  std::thread::id other;
  std::thread thread([&, last = std::move(tensor)]() mutable {
    other = std::this_thread::get_id();
    last = Tensor();
  });
  thread.join();
  EXPECT_EQ(deleted_on, other);
}

TEST(Tensor, FromMemoryChecksItsArguments) {
  alignas(16) std::array<char, 64> bytes{};
  int deletions = 0;
  const auto make = [&](std::size_t offset, DType dtype, const Shape& shape) {
    return Tensor::from_memory(bytes.data() + offset, dtype, shape, [&](void*) { ++deletions; });
  };
  EXPECT_THROW(make(1, DType::float32, {2}), InvalidArgument);
  EXPECT_THROW(make(4, DType::complex128, {2}), InvalidArgument);
  EXPECT_NO_THROW(make(8, DType::complex128, {2}));
  EXPECT_THROW(make(0, DType::float32, {-1}), InvalidArgument);
  EXPECT_THROW(make(0, DType::string, {1}), TypeError);
  EXPECT_THROW(make(0, DType::float64, {1LL << 61}), InvalidArgument);
  EXPECT_THROW(make(0, DType::invalid, {1}), TypeError);
  EXPECT_THROW(Tensor::from_memory(nullptr, DType::float32, {2}, nullptr), InvalidArgument);
  EXPECT_EQ(Tensor::from_memory(nullptr, DType::float32, {0}, nullptr).size(), 0);
  EXPECT_EQ(deletions, 1) << "a refused call leaves the memory with its owner";
}

TEST(Tensor, ReadingChecksTypeAndCount) {
  const Tensor pair = constant({1.f, 2.f});
  EXPECT_THROW(pair.values<double>(), TypeError);
  EXPECT_THROW(pair.item<float>(), InvalidArgument);
  EXPECT_THROW(static_cast<bool>(pair), InvalidArgument);
  EXPECT_TRUE(static_cast<bool>(constant("x")));
  EXPECT_FALSE(static_cast<bool>(constant("")));
  EXPECT_FALSE(static_cast<bool>(constant({{-0.f}})));
  EXPECT_THROW(Tensor().dtype(), FailedPrecondition);
}

TEST(Tensor, DestructionGivesAllMemoryBack) {
  const auto before = memory::statistics().bytes_in_use;
  const auto alive = live_tensor_count();
  {
    const Tensor large = new_tensor(DType::float32, {1000, 1000});
    const Tensor words = constant({std::string(500, 'a'), std::string(500, 'b'), std::string("c")});
    const Tensor view = share_elements(words, {1, 3});
    EXPECT_EQ(live_tensor_count(), alive + 3);
    EXPECT_EQ(view.values<std::string>()[1].size(), 500u);
  }
  EXPECT_EQ(live_tensor_count(), alive);
  EXPECT_LE(memory::statistics().bytes_in_use, before + 512 * 1024) << "all but the pool of tensor objects";
}

TEST(Tensor, AHandleIsOneElementOfItsType) {
  EXPECT_THROW(resource_of(new_tensor(DType::resource, {0})), InvalidArgument);
  EXPECT_THROW(resource_of(new_tensor(DType::resource, {2})), InvalidArgument);
  EXPECT_THROW(resource_of(constant(1)), TypeError);
}

TEST(Tensor, MoreBytesThanThereAreIsAnError) {
  EXPECT_THROW(new_tensor(DType::float64, {1LL << 61}), InvalidArgument);
  EXPECT_THROW(new_tensor(DType::float64, {1LL << 50}), ResourceExhausted);
}

}  // namespace
}  // namespace capstan
