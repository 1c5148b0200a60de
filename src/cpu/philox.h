// Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1,
// 2, 3", 2011), with TensorFlow's ways to seed it and to turn its bits into numbers.
#pragma once

#include <array>
#include <cstdint>

namespace capstan::cpu {

class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;

  Philox(const Block& counter, const Key& key) : counter_(counter), key_(key) {}
  /// From the seeds of the stateful operations.
  Philox(std::uint64_t seed, std::uint64_t seed2)
      : counter_{0, 0, low(seed2), high(seed2)}, key_{low(seed), high(seed)} {}
  /// From the words that StatelessRandomGetKeyCounter gives.
  static Philox from_words(std::uint64_t key, std::uint64_t counter0, std::uint64_t counter1) {
    return Philox({low(counter0), high(counter0), low(counter1), high(counter1)}, {low(key), high(key)});
  }

  /// Four fresh words; the counter moves on by one.
  Block operator()() {
    Block block = counter_;
    Key key = key_;
    for (int round = 0; round < 9; ++round) {
      block = mixed(block, key);
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    block = mixed(block, key);
    skip(1);
    return block;
  }

  /// Moves the 128-bit counter on.
  void skip(std::uint64_t blocks) {
    const std::uint64_t first = join(counter_[0], counter_[1]);
    const std::uint64_t sum = first + blocks;
    const std::uint64_t second = join(counter_[2], counter_[3]) + (sum < first ? 1 : 0);
    counter_ = {low(sum), high(sum), low(second), high(second)};
  }

  static constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
  static constexpr std::uint64_t join(std::uint32_t lower, std::uint32_t upper) {
    return static_cast<std::uint64_t>(upper) << 32 | lower;
  }

 private:
  static Block mixed(const Block& c, const Key& key) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * c[2];
    return {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
  }

  Block counter_;
  Key key_;
};

}  // namespace capstan::cpu
