// Stages that choose and order items without looking into them: take, skip, repeat. Each works on rows and on elements.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "data/stream.h"

namespace capstan::data::detail {

template <class Item>
class Take final : public Source<Item> {
 public:
  Take(SourcePointer<Item> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
  StreamPointer<Item> open() const override { return std::make_unique<Reading>(input_->open(), count_); }
  std::int64_t cardinality() const override {
    const std::int64_t all = input_->cardinality();
    return all == kInfinite ? count_ : std::min(all, count_);
  }

 private:
  class Reading final : public Stream<Item> {
   public:
    Reading(StreamPointer<Item> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
    bool next(Item& item) override { return taken_ < count_ && input_->next(item) && ++taken_; }
    void restart() override {
      input_->restart();
      taken_ = 0;
    }

   private:
    StreamPointer<Item> input_;
    std::int64_t count_, taken_ = 0;
  };

  SourcePointer<Item> input_;
  std::int64_t count_;
};

template <class Item>
class Skip final : public Source<Item> {
 public:
  Skip(SourcePointer<Item> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
  StreamPointer<Item> open() const override { return std::make_unique<Reading>(input_->open(), count_); }
  std::int64_t cardinality() const override {
    const std::int64_t all = input_->cardinality();
    return all == kInfinite ? kInfinite : std::max<std::int64_t>(all - count_, 0);
  }

 private:
  class Reading final : public Stream<Item> {
   public:
    Reading(StreamPointer<Item> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
    bool next(Item& item) override {
      for (; skipped_ < count_; ++skipped_)
        if (!input_->next(item)) return false;
      return input_->next(item);
    }
    void restart() override {
      input_->restart();
      skipped_ = 0;
    }

   private:
    StreamPointer<Item> input_;
    std::int64_t count_, skipped_ = 0;
  };

  SourcePointer<Item> input_;
  std::int64_t count_;
};

template <class Item>
class Repeat final : public Source<Item> {
 public:
  Repeat(SourcePointer<Item> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
  StreamPointer<Item> open() const override { return std::make_unique<Reading>(input_->open(), count_); }
  std::int64_t cardinality() const override {
    const std::int64_t once = input_->cardinality();
    if (once == 0 || count_ == 0) return 0;
    if (once == kInfinite || count_ == kForever) return kInfinite;
    std::int64_t all = 0;
    return __builtin_mul_overflow(once, count_, &all) ? std::numeric_limits<std::int64_t>::max() : all;
  }

 private:
  class Reading final : public Stream<Item> {
   public:
    Reading(StreamPointer<Item> input, std::int64_t count) : input_(std::move(input)), count_(count) {}
    bool next(Item& item) override {
      if (count_ == 0) return false;
      while (!input_->next(item)) {
        // Repeating nothing would never come to an end.
        if (is_empty_so_far_ || round_ + 1 == count_) return false;
        ++round_;
        is_empty_so_far_ = true;
        input_->restart();
      }
      is_empty_so_far_ = false;
      return true;
    }
    void restart() override {
      input_->restart();
      round_ = 0;
      is_empty_so_far_ = true;
    }

   private:
    StreamPointer<Item> input_;
    std::int64_t count_, round_ = 0;
    bool is_empty_so_far_ = true;
  };

  SourcePointer<Item> input_;
  std::int64_t count_;
};

}  // namespace capstan::data::detail
