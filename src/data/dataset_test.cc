#include "capstan/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <thread>

#include "base/test_errors.h"
#include "capstan/autodiff/gradient_tape.h"
#include "capstan/base/threads.h"
#include "capstan/ops/math.h"
#include "capstan/ops/random_ops.h"

namespace capstan::data {
namespace {

static_assert(std::ranges::input_range<Dataset<2>>);
static_assert(std::ranges::input_range<const Dataset<1>>);
static_assert(MapFunction<decltype([](Tensor x, Tensor y) { return std::pair(x, y); }), 2>);
static_assert(!MapFunction<decltype([](Tensor x) { return x; }), 2>);
static_assert(!MapFunction<decltype([](Tensor) { return 1; }), 1>);

Dataset<1> numbers(int count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return from_tensor_slices(constant(values));
}

/// The same numbers as elements, which no stage can treat as rows.
Dataset<1> elements(int count) {
  return numbers(count).map([](Tensor x) { return x; });
}

std::vector<std::int64_t> read(const Dataset<1>& dataset) {
  std::vector<std::int64_t> values;
  for (const Tensor& x : dataset)
    for (const std::int64_t value : x.values<std::int64_t>()) values.push_back(value);
  return values;
}

std::vector<std::int64_t> sizes(const Dataset<1>& batches) {
  std::vector<std::int64_t> result;
  for (const Tensor& batch : batches) result.push_back(batch.dim(0));
  return result;
}

using Numbers = std::vector<std::int64_t>;

// Each test runs on rows and on elements: they take different ways through the stages.
class Datasets : public ::testing::TestWithParam<Dataset<1> (*)(int)> {
 protected:
  Dataset<1> make(int count) const { return GetParam()(count); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Datasets, ::testing::Values(&numbers, &elements),
                         [](const auto& kind) { return kind.param == &numbers ? "Rows" : "Elements"; });

TEST_P(Datasets, AreReadAgainAndAgain) {
  const Dataset<1> dataset = make(4);
  EXPECT_EQ(read(dataset), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(read(dataset), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(dataset.cardinality(), 4);
}

TEST_P(Datasets, TakeAndSkip) {
  EXPECT_EQ(read(make(5).take(2)), (Numbers{0, 1}));
  EXPECT_EQ(read(make(5).take(9)), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(read(make(5).skip(3)), (Numbers{3, 4}));
  EXPECT_EQ(read(make(5).skip(3).repeat(2)), (Numbers{3, 4, 3, 4}));
  EXPECT_EQ(read(make(5).take(2).repeat(2)), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(read(make(5).skip(6)), Numbers{});
  EXPECT_EQ(read(make(5).take(0)), Numbers{});
  EXPECT_EQ(make(5).take(2).cardinality(), 2);
  EXPECT_EQ(make(5).take(9).cardinality(), 5);
  EXPECT_EQ(make(5).skip(3).cardinality(), 2);
  EXPECT_EQ(make(5).skip(7).cardinality(), 0);
}

TEST_P(Datasets, Repeat) {
  EXPECT_EQ(read(make(2).repeat(3)), (Numbers{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(read(make(2).repeat(0)), Numbers{});
  EXPECT_EQ(read(make(2).repeat().take(5)), (Numbers{0, 1, 0, 1, 0}));
  EXPECT_EQ(read(make(1).repeat(2).repeat(2)), (Numbers{0, 0, 0, 0}));
  EXPECT_EQ(make(2).repeat(3).cardinality(), 6);
  EXPECT_EQ(make(2).repeat().cardinality(), kInfinite);
  EXPECT_EQ(make(2).repeat().take(5).cardinality(), 5);
  EXPECT_EQ(make(2).repeat().skip(5).batch(2).cardinality(), kInfinite);
  EXPECT_EQ(make(2).repeat(INT64_MAX).cardinality(), INT64_MAX);
}

TEST_P(Datasets, Batch) {
  EXPECT_EQ(read(make(5).batch(2)), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(sizes(make(5).batch(2)), (Numbers{2, 2, 1}));
  EXPECT_EQ(sizes(make(4).batch(2)), (Numbers{2, 2}));
  EXPECT_EQ(sizes(make(5).batch(2, {.drop_remainder = true})), (Numbers{2, 2}));
  EXPECT_EQ(sizes(make(5).batch(INT64_MAX)), (Numbers{5}));
  EXPECT_EQ(sizes(make(2).repeat(3).batch(4)), (Numbers{4, 2}));
  EXPECT_EQ(sizes(make(3).batch(2).repeat(2)), (Numbers{2, 1, 2, 1}));
  EXPECT_EQ((*make(6).batch(2).batch(3).begin()).shape(), (Shape{3, 2}));
  EXPECT_EQ(make(5).batch(2).cardinality(), 3);
  EXPECT_EQ(make(5).batch(2, {.drop_remainder = true}).cardinality(), 2);
}

TEST_P(Datasets, EmptyOnes) {
  EXPECT_EQ(read(make(0)), Numbers{});
  EXPECT_EQ(read(make(0).batch(3)), Numbers{});
  EXPECT_EQ(read(make(0).shuffle(3)), Numbers{});
  EXPECT_EQ(read(make(0).repeat()), Numbers{});  // ends, instead of looking for an element for ever
  EXPECT_EQ(read(make(0).prefetch(2)), Numbers{});
  EXPECT_EQ(make(0).repeat().cardinality(), 0);
  EXPECT_EQ(make(0).batch(3).cardinality(), 0);
}

TEST_P(Datasets, ShuffleGivesEachElementOnce) {
  for (const int buffer : {1, 3, 20, 1000}) {
    Numbers order = read(make(20).shuffle(buffer, {.seed = 5}));
    EXPECT_EQ(std::ranges::is_sorted(order), buffer == 1) << buffer;
    std::ranges::sort(order);
    EXPECT_EQ(order, read(make(20))) << buffer;
  }
  // An element leaves a buffer of 3 at most two places early.
  const Numbers order = read(make(100).shuffle(3, {.seed = 5}));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_LE(order[i], static_cast<std::int64_t>(i) + 2);
}

TEST_P(Datasets, ShuffleFollowsItsSeed) {
  const auto order = [&](std::uint64_t seed) { return read(make(50).shuffle(50, {.seed = seed})); };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  EXPECT_EQ(read(numbers(50).shuffle(10, {.seed = 3})), read(elements(50).shuffle(10, {.seed = 3})));
}

TEST_P(Datasets, ShuffleAgainForEachIteration) {
  const auto once = make(50).shuffle(50, {.seed = 1});
  const auto again = make(50).shuffle(50, {.seed = 1});
  const Numbers first = read(once), second = read(once);
  EXPECT_NE(first, second);
  EXPECT_EQ(read(again), first);
  EXPECT_EQ(read(again), second);

  const auto fixed = make(50).shuffle(50, {.seed = 1, .reshuffle_each_iteration = false});
  EXPECT_EQ(read(fixed), read(fixed));
  const Numbers twice = read(fixed.repeat(2));
  EXPECT_TRUE(std::equal(twice.begin(), twice.begin() + 50, twice.begin() + 50));
}

TEST_P(Datasets, ShuffleAgainForEachRepetition) {
  const auto order = [&] { return read(make(50).shuffle(50, {.seed = 1}).repeat(2)); };
  const Numbers both = order();
  EXPECT_FALSE(std::equal(both.begin(), both.begin() + 50, both.begin() + 50));
  EXPECT_EQ(order(), both);
}

// A producer may be rounds ahead when its reader leaves; what the next iteration gives does not depend on that.
TEST_P(Datasets, ShuffledRepetitionsDoNotDisturbTheNextIteration) {
  set_thread_count(2);
  const auto dataset = make(3).shuffle(3, {.seed = 1}).repeat().prefetch(50);
  const auto plain = make(3).shuffle(3, {.seed = 1}).repeat();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(read(dataset.take(4)), read(plain.take(4)));
  }
}

TEST_P(Datasets, UnseededShuffleFollowsTheProcessSeed) {
  const auto order = [&] { return read(make(50).shuffle(50)); };
  set_random_seed(11);
  const Numbers first = order(), second = order();
  EXPECT_NE(first, second);
  set_random_seed(11);
  EXPECT_EQ(order(), first);
}

TEST_P(Datasets, ShuffleMakesEveryOrderEquallyLikely) {
  constexpr int kRounds = 6000;
  std::map<Numbers, int> counts;
  const auto dataset = make(4).shuffle(4, {.seed = 1});
  for (int i = 0; i < kRounds; ++i) ++counts[read(dataset)];
  EXPECT_EQ(counts.size(), 24u);
  double chi_squared = 0;
  for (const auto& [order, count] : counts) chi_squared += (count - 250.0) * (count - 250.0) / 250.0;
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom, one chance in a thousand; the seed is fixed
}

TEST_P(Datasets, IteratorsAreIndependentAndKeepTheDataAlive) {
  std::optional<Dataset<1>> dataset = make(6).batch(2);
  auto first = dataset->begin();
  auto second = dataset->begin();
  ++second;
  dataset.reset();
  EXPECT_EQ(first->to_vector<std::int64_t>(), (Numbers{0, 1}));
  EXPECT_EQ(second->to_vector<std::int64_t>(), (Numbers{2, 3}));
  ++ ++second;
  EXPECT_TRUE(second == std::default_sentinel);
  ++second;  // the end stays the end
  EXPECT_TRUE(second == std::default_sentinel);
  auto moved = std::move(first);
  EXPECT_EQ((++moved)->to_vector<std::int64_t>(), (Numbers{2, 3}));
}

TEST_P(Datasets, AreReadByManyThreadsAtOnce) {
  const auto dataset = make(300).shuffle(300, {.seed = 1}).batch(7).prefetch(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Numbers order = read(dataset);
      std::ranges::sort(order);
      EXPECT_EQ(order, read(numbers(300)));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Datasets, RefuseBadNumbers) {
  const auto dataset = make(3);
  EXPECT_EQ(message_of<InvalidArgument>([&] { dataset.batch(0); }), "batch: the batch size must be at least 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([&] { dataset.shuffle(0); }),
            "shuffle: the buffer size must be at least 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([&] { dataset.prefetch(0); }), "prefetch: the count must be at least 1, got 0");
  EXPECT_EQ(message_of<InvalidArgument>([&] { dataset.take(-1); }), "take: the count must be at least 0, got -1");
  EXPECT_EQ(message_of<InvalidArgument>([&] { dataset.skip(-2); }), "skip: the count must be at least 0, got -2");
  EXPECT_EQ(message_of<InvalidArgument>([&] { dataset.repeat(-2); }), "repeat: the count must be at least 0, got -2");
}

TEST(Dataset, UnpacksItsComponents) {
  const Tensor images = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), labels = constant({7, 8, 9});
  int seen = 0;
  // The chain is a temporary: what it reads must outlive it.
  for (auto [x, y] : from_tensor_slices(images, labels).shuffle(10).batch(2)) {
    for (std::int64_t i = 0; i < y.size(); ++i, ++seen)
      EXPECT_EQ(x.values<float>()[static_cast<std::size_t>(2 * i)],
                static_cast<float>(2 * y.values<int>()[static_cast<std::size_t>(i)] - 13));
  }
  EXPECT_EQ(seen, 3);
}

TEST(Dataset, SlicesStringsAndEmptyRows) {
  std::vector<std::string> words;
  for (const Tensor& batch :
       from_tensor_slices(constant({"a", "a word that is longer than a short string", "c"})).batch(2))
    for (const std::string& word : batch.values<std::string>()) words.push_back(word);
  EXPECT_EQ(words, (std::vector<std::string>{"a", "a word that is longer than a short string", "c"}));
  const auto empty = from_tensor_slices(constant(std::span<const float>(), Shape{3, 0}));
  EXPECT_EQ((*empty.batch(2).begin()).shape(), (Shape{2, 0}));
}

TEST(Dataset, FromTensorsIsOneElement) {
  const auto dataset = from_tensors(constant({1, 2}), constant("x"));
  EXPECT_EQ(dataset.cardinality(), 1);
  int seen = 0;
  for (auto [a, b] : dataset.repeat(2)) {
    EXPECT_EQ(a.shape(), Shape{2});
    EXPECT_EQ(b.item<std::string>(), "x");
    ++seen;
  }
  EXPECT_EQ(seen, 2);
  EXPECT_THROW(from_tensors(Tensor()), InvalidArgument);
}

TEST(Dataset, RefusesTensorsThatDoNotFit) {
  expect_contains(message_of<InvalidArgument>([] {
                    from_tensor_slices(constant({1, 2}), constant({{1}, {2}, {3}}));
                  }),
                  "got shapes [2] and [3,1] (2 against 3, tensor 1)");
  expect_contains(message_of<InvalidArgument>([] { from_tensor_slices(constant(1)); }),
                  "needs a first axis to slice along, got a scalar of type int32");
}

TEST(Dataset, BatchRefusesDifferentShapes) {
  const auto ragged = numbers(3).map([](Tensor x) {
    return x.item<std::int64_t>() == 2 ? constant({1.f, 2.f}) : constant({1.f});
  });
  expect_contains(message_of<InvalidArgument>([&] {
                    for (const Tensor& x : ragged.batch(3)) x.size();
                  }),
                  "got float32 [1] in element 0 and float32 [2] in element 2 (component 0)");
}

TEST(Dataset, MapChangesTheComponents) {
  const auto pairs = numbers(3).map([](Tensor x) { return std::pair(x, x * x); });
  Numbers sums;
  for (const Tensor& x : pairs.map([](Tensor a, Tensor b) { return a + b; })) sums.push_back(x.item<std::int64_t>());
  EXPECT_EQ(sums, (Numbers{0, 2, 6}));
  int seen = 0;
  for (auto [a, b, c] : pairs.map([](Tensor a, Tensor b) { return std::array{a, b, a}; })) seen += c.is_same(a);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(pairs.cardinality(), 3);
}

TEST(Dataset, TapesDoNotSeeMaps) {
  const Tensor w = constant(2.f);
  GradientTape tape;
  tape.watch(w);
  const auto mapped = from_tensors(constant(3.f)).map([&](Tensor x) { return x * w; });
  for (const Tensor& y : mapped) {
    EXPECT_EQ(y.item<float>(), 6.f);
    EXPECT_FALSE(tape.gradient(y, w).has_value());
  }
}

TEST(Dataset, ErrorsComeAtTheirElementAndEndTheIteration) {
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    const auto failing = numbers(5).map([](Tensor x) {
      if (x.item<std::int64_t>() == 2) throw DataLoss("the third is bad");
      return x;
    });
    for (const auto& dataset : {failing, failing.prefetch(1), failing.prefetch(10)}) {
      auto iterator = dataset.begin();
      ++iterator;
      EXPECT_EQ(iterator->item<std::int64_t>(), 1);
      EXPECT_EQ(message_of<DataLoss>([&] { ++iterator; }), "the third is bad");
      EXPECT_TRUE(iterator == std::default_sentinel);
    }
  }
  set_thread_count(2);
}

}  // namespace
}  // namespace capstan::data
