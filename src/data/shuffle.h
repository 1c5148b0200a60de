// The shuffle stage: a buffer from which each next item is drawn, all with the same chance.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "data/stream.h"

namespace capstan::data::detail {

/// SplitMix64: any two seeds give unrelated sequences, and the state is one number.
class ShuffleRandom {
 public:
  explicit ShuffleRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number below `bound`, each as likely as any other.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide(next()) * bound;
    // The low half tells the few draws that would favour some numbers.
    if (static_cast<std::uint64_t>(product) < bound)
      for (const std::uint64_t unfair = -bound % bound; static_cast<std::uint64_t>(product) < unfair;)
        product = Wide(next()) * bound;
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  std::uint64_t state_;
};

/// The seed of one order out of many.
inline std::uint64_t order_seed(std::uint64_t seed, std::uint64_t reading, std::uint64_t repetition) {
  const std::uint64_t a = ShuffleRandom(seed).next();
  const std::uint64_t b = ShuffleRandom(a ^ reading).next();
  return ShuffleRandom(b ^ repetition).next();
}

template <class Item>
class Shuffle final : public Source<Item> {
 public:
  Shuffle(SourcePointer<Item> input, std::int64_t buffer_size, std::uint64_t seed, bool reshuffle)
      : input_(std::move(input)), buffer_size_(buffer_size), seed_(seed), reshuffle_(reshuffle) {}
  StreamPointer<Item> open() const override {
    return std::make_unique<Reading>(*this, reshuffle_ ? readings_.fetch_add(1, std::memory_order_relaxed) : 0);
  }
  std::int64_t cardinality() const override { return input_->cardinality(); }

 private:
  class Reading final : public Stream<Item> {
   public:
    Reading(const Shuffle& source, std::uint64_t number)
        : source_(source),
          input_(source.input_->open()),
          number_(number),
          random_(order_seed(source.seed_, number, 0)) {}
    bool next(Item& item) override {
      fill();
      if (buffer_.empty()) return false;
      std::swap(buffer_[random_.below(buffer_.size())], buffer_.back());
      item = std::move(buffer_.back());
      buffer_.pop_back();
      return true;
    }
    void restart() override {
      input_->restart();
      input_has_ended_ = false;
      buffer_.clear();
      if (source_.reshuffle_) ++repetition_;
      random_ = ShuffleRandom(order_seed(source_.seed_, number_, repetition_));
    }

   private:
    void fill() {
      while (!input_has_ended_ && buffer_.size() < static_cast<std::size_t>(source_.buffer_size_)) {
        Item item{};
        if (input_->next(item))
          buffer_.push_back(std::move(item));
        else
          input_has_ended_ = true;
      }
    }

    const Shuffle& source_;
    StreamPointer<Item> input_;
    std::uint64_t number_, repetition_ = 0;
    ShuffleRandom random_;
    std::vector<Item> buffer_;
    bool input_has_ended_ = false;
  };

  SourcePointer<Item> input_;
  std::int64_t buffer_size_;
  std::uint64_t seed_;
  bool reshuffle_;
  mutable std::atomic<std::uint64_t> readings_{0};
};

}  // namespace capstan::data::detail
